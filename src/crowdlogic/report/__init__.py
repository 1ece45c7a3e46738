"""What an annotation lead should know: findings as plain numbers and sentences, and a page that shows them."""
