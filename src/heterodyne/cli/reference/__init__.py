"""The reference pages, one file each: the text from the code it describes."""
