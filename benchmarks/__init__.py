"""Speed and accuracy claims, each a script that measures ours and the peer in one run."""
