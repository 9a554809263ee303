"""Personal data in a text: recognisers by kind and country, and the finder that runs those that could match. Pure."""
