"""Plans that the console asks for, made in processes of their own."""
