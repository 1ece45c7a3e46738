"""What people know from other packages: scikit-learn's estimators, crowd-kit's classes, cleanlab's scores."""
