"""What a text may not carry: guards that find it, and the rules that say what happens then. Pure."""
