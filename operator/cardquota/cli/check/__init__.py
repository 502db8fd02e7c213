"""`cardquota check`: what an administrator should look at, found with the user's own rights."""
