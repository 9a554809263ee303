"""Countries, regions and large cities in English, and often in their own language, compiled by hand."""

from typing import Final

from heterodyne.safety.pii.words.word_set import word_set


def _lines(text: str) -> frozenset[str]:
    return frozenset(name for line in text.split("\n") for name in line.strip().split(", ") if name)


COUNTRIES: Final = _lines(
    """
    Afghanistan, Albania, Algeria, Andorra, Angola, Argentina, Armenia, Australia, Austria, Azerbaijan, Bahamas
    Bahrain, Bangladesh, Barbados, Belarus, Belgium, Belize, Benin, Bhutan, Bolivia, Bosnia, Bosnia and Herzegovina
    Botswana, Brazil, Brunei, Bulgaria, Burkina Faso, Burma, Burundi, Cambodia, Cameroon, Canada, Cape Verde
    Central African Republic, Chile, China, Colombia, Comoros, Congo, Costa Rica, Croatia, Cuba, Cyprus, Czechia
    Czech Republic, Denmark, Djibouti, Dominica, Dominican Republic, East Timor, Ecuador, Egypt, El Salvador, England
    Equatorial Guinea, Eritrea, Estonia, Eswatini, Ethiopia, Faroe Islands, Fiji, Finland, France, French Guiana
    French Polynesia, Gabon, Gambia, Germany, Ghana, Gibraltar, Great Britain, Greece, Greenland, Grenada, Guadeloupe
    Guatemala, Guinea, Guyana, Haiti, Honduras, Hong Kong, Hungary, Iceland, India, Indonesia, Iran, Iraq, Ireland
    Israel, Italy, Ivory Coast, Jamaica, Japan, Kazakhstan, Kenya, Kosovo, Kuwait, Kyrgyzstan, Laos, Latvia, Lebanon
    Lesotho, Liberia, Libya, Liechtenstein, Lithuania, Luxembourg, Macau, Macedonia, Madagascar, Malawi, Malaysia
    Maldives, Mali, Malta, Martinique, Mauritania, Mauritius, Mexico, Moldova, Monaco, Mongolia, Montenegro, Morocco
    Mozambique, Myanmar, Namibia, Nepal, Netherlands, New Zealand, Nicaragua, Niger, Nigeria, North Korea
    North Macedonia, Northern Ireland, Norway, Oman, Pakistan, Palestine, Panama, Papua New Guinea, Paraguay, Peru
    Philippines, Poland, Portugal, Puerto Rico, Qatar, Romania, Russia, Rwanda, Saudi Arabia, Scotland, Senegal
    Serbia, Seychelles, Sierra Leone, Singapore, Slovakia, Slovenia, Somalia, South Africa, South Korea, South Sudan
    Spain, Sri Lanka, Sudan, Suriname, Swaziland, Sweden, Switzerland, Syria, Taiwan, Tajikistan, Tanzania, Thailand
    Tibet, Togo, Tonga, Trinidad and Tobago, Tunisia, Turkey, Türkiye, Turkmenistan, Uganda, Ukraine
    United Arab Emirates, United Kingdom, United States, United States of America, Uruguay, Uzbekistan, Vanuatu
    Vatican City, Venezuela, Vietnam, Wales, Yemen, Zambia, Zimbabwe, USA, UK, U.S., U.K., UAE, Deutschland, España
    Italia, Österreich, Schweiz, Suisse, Polska, Sverige, Norge, Danmark, Suomi, Ísland, Magyarország, Česko, Hrvatska
    Slovenija, Brasil, México, Nederland, België, Belgique, Portugal, Россия, Ελλάδα, Κύπρος, Europe, Asia, Africa
    North America, South America, Latin America, Scandinavia, Middle East, Antarctica, Oceania, Caribbean
    """
)

REGIONS: Final = _lines(
    """
    Alabama, Alaska, Arizona, Arkansas, California, Colorado, Connecticut, Delaware, Florida, Hawaii, Idaho, Illinois
    Indiana, Iowa, Kansas, Kentucky, Louisiana, Maine, Maryland, Massachusetts, Michigan, Minnesota, Mississippi
    Missouri, Montana, Nebraska, Nevada, New Hampshire, New Jersey, New Mexico, New York, North Carolina, North Dakota
    Ohio, Oklahoma, Oregon, Pennsylvania, Rhode Island, South Carolina, South Dakota, Tennessee, Texas, Utah, Vermont
    Virginia, West Virginia, Wisconsin, Wyoming, Ontario, Quebec, Québec, British Columbia, Alberta, Manitoba
    Saskatchewan, Nova Scotia, New Brunswick, Newfoundland, Prince Edward Island, Yukon, Nunavut, New South Wales
    Queensland, Victoria, Tasmania, South Australia, Western Australia, Northern Territory, Bavaria, Bayern, Saxony
    Sachsen, Hessen, Brandenburg, Thuringia, Tyrol, Tirol, Salzburg, Carinthia, Lombardy, Lombardia, Tuscany, Toscana
    Sicily, Sicilia, Sardinia, Piedmont, Veneto, Andalusia, Andalucía, Catalonia, Catalunya, Galicia, Basque Country
    Brittany, Normandy, Provence, Alsace, Burgundy, Corsica, Flanders, Wallonia, Yorkshire, Cornwall, Kent, Essex
    Sussex, Surrey, Devon, Dorset, Norfolk, Suffolk, Lancashire, Cheshire, Cumbria, Somerset, Oxfordshire
    Kerala, Punjab, Gujarat, Maharashtra, Karnataka, Tamil Nadu, Rajasthan, Bihar, Bengal, Uttar Pradesh, Goa, Kashmir
    Hokkaido, Okinawa, Guangdong, Sichuan, Yunnan, Siberia, Crimea, Transylvania, Dalmatia, Lapland, Zealand, Jutland
    Patagonia, Jalisco, Yucatán, Oaxaca, Bahia, Minas Gerais, Long Island, Silicon Valley, Bay Area, Midwest
    """
)

CITIES: Final = _lines(
    """
    New York City, NYC, Los Angeles, Chicago, Houston, Phoenix, Philadelphia, San Antonio, San Diego, Dallas, San Jose
    Austin, Jacksonville, Fort Worth, Columbus, Indianapolis, San Francisco, Seattle, Denver, Washington, Boston
    El Paso, Nashville, Detroit, Oklahoma City, Portland, Las Vegas, Memphis, Louisville, Baltimore, Milwaukee
    Albuquerque, Tucson, Fresno, Sacramento, Kansas City, Atlanta, Omaha, Colorado Springs, Raleigh, Miami, Oakland
    Minneapolis, Tulsa, Tampa, Arlington, New Orleans, Wichita, Cleveland, Bakersfield, Honolulu, Anaheim, Orlando
    Pittsburgh, Cincinnati, Saint Louis, St. Louis, Salt Lake City, Brooklyn, Manhattan, Queens, Bronx, Staten Island
    Hollywood, Palo Alto, Berkeley, Cupertino, Mountain View, Redmond, Buffalo, Rochester, Newark, Jersey City, Boise
    Spokane, Tacoma, Des Moines, Richmond, Norfolk, Baton Rouge, Birmingham, Little Rock, Anchorage, Providence
    Hartford, New Haven, Princeton, Santa Monica, Santa Barbara, Santa Cruz, Savannah, Charleston, Knoxville, Toronto
    Montreal, Montréal, Vancouver, Calgary, Edmonton, Ottawa, Winnipeg, Quebec City, Hamilton, Kitchener, Halifax
    Saskatoon, Regina, Mississauga, London, Manchester, Liverpool, Leeds, Sheffield, Bristol, Glasgow, Edinburgh
    Leicester, Coventry, Bradford, Cardiff, Belfast, Nottingham, Newcastle, Southampton, Portsmouth, Plymouth, Oxford
    Cambridge, Brighton, York, Bath, Aberdeen, Dundee, Swansea, Derby, Stoke-on-Trent, Wolverhampton, Norwich, Exeter
    Dublin, Cork, Galway, Limerick, Waterford, Paris, Marseille, Lyon, Toulouse, Nice, Nantes, Strasbourg, Montpellier
    Bordeaux, Lille, Rennes, Reims, Toulon, Grenoble, Dijon, Angers, Nîmes, Cannes, Avignon, Brest, Limoges, Tours
    Berlin, Hamburg, Munich, München, Cologne, Köln, Frankfurt, Stuttgart, Düsseldorf, Dortmund, Essen, Leipzig
    Bremen, Dresden, Hanover, Hannover, Nuremberg, Nürnberg, Duisburg, Bochum, Wuppertal, Bielefeld, Bonn, Münster
    Karlsruhe, Mannheim, Augsburg, Wiesbaden, Freiburg, Heidelberg, Mainz, Potsdam, Rostock, Kiel, Lübeck, Vienna
    Wien, Graz, Linz, Innsbruck, Klagenfurt, Zurich, Zürich, Geneva, Genève, Basel, Bern, Lausanne, Lucerne, Luzern
    Lugano, Amsterdam, Rotterdam, The Hague, Den Haag, Utrecht, Eindhoven, Groningen, Tilburg, Breda, Nijmegen
    Haarlem, Leiden, Delft, Maastricht, Brussels, Bruxelles, Brussel, Antwerp, Antwerpen, Ghent, Gent, Bruges, Brugge
    Liège, Leuven, Namur, Charleroi, Madrid, Barcelona, Valencia, Seville, Sevilla, Zaragoza, Málaga, Malaga, Murcia
    Palma, Bilbao, Alicante, Córdoba, Valladolid, Vigo, Granada, Cádiz, Salamanca, Toledo, Lisbon, Lisboa, Porto
    Braga, Coimbra, Faro, Funchal, Rome, Roma, Milan, Milano, Naples, Napoli, Turin, Torino, Palermo, Genoa, Genova
    Bologna, Florence, Firenze, Bari, Catania, Venice, Venezia, Verona, Padua, Padova, Trieste, Pisa, Siena, Perugia
    Modena, Parma, Athens, Thessaloniki, Patras, Heraklion, Nicosia, Limassol, Larnaca, Istanbul, Ankara, Izmir
    Antalya, Bursa, Adana, Stockholm, Gothenburg, Göteborg, Malmö, Uppsala, Västerås, Örebro, Linköping, Lund, Umeå
    Oslo, Bergen, Trondheim, Stavanger, Tromsø, Drammen, Copenhagen, København, Aarhus, Odense, Aalborg, Esbjerg
    Helsinki, Espoo, Tampere, Vantaa, Oulu, Turku, Jyväskylä, Reykjavik, Reykjavík, Akureyri, Tallinn, Tartu, Riga
    Vilnius, Kaunas, Warsaw, Warszawa, Kraków, Krakow, Łódź, Wrocław, Poznań, Gdańsk, Szczecin, Lublin, Katowice
    Prague, Praha, Brno, Ostrava, Plzeň, Bratislava, Košice, Budapest, Debrecen, Szeged, Pécs, Győr, Miskolc
    Bucharest, București, Cluj-Napoca, Timișoara, Iași, Sofia, Plovdiv, Varna, Belgrade, Beograd, Novi Sad, Zagreb
    Split, Rijeka, Dubrovnik, Ljubljana, Maribor, Sarajevo, Skopje, Tirana, Podgorica, Pristina, Kyiv, Kiev, Kharkiv
    Odessa, Lviv, Minsk, Moscow, Saint Petersburg, St. Petersburg, Novosibirsk, Yekaterinburg, Kazan, Samara, Omsk
    Vladivostok, Tbilisi, Yerevan, Baku, Almaty, Astana, Tashkent, Tehran, Mashhad, Isfahan, Shiraz, Tabriz, Baghdad
    Basra, Mosul, Damascus, Aleppo, Beirut, Amman, Jerusalem, Tel Aviv, Haifa, Gaza, Riyadh, Jeddah, Mecca, Medina
    Doha, Dubai, Abu Dhabi, Sharjah, Manama, Kuwait City, Muscat, Sanaa, Cairo, Alexandria, Giza, Tripoli, Tunis
    Algiers, Oran, Casablanca, Rabat, Marrakesh, Marrakech, Fez, Khartoum, Addis Ababa, Asmara, Nairobi, Mombasa
    Kampala, Kigali, Dar es Salaam, Lagos, Abuja, Kano, Ibadan, Accra, Kumasi, Dakar, Abidjan, Bamako, Kinshasa
    Luanda, Lusaka, Harare, Maputo, Johannesburg, Cape Town, Durban, Pretoria, Windhoek, Gaborone, Antananarivo
    Mumbai, Delhi, New Delhi, Bangalore, Bengaluru, Hyderabad, Chennai, Kolkata, Pune, Ahmedabad, Jaipur, Lucknow
    Surat, Kanpur, Nagpur, Indore, Bhopal, Patna, Kochi, Karachi, Lahore, Islamabad, Rawalpindi, Peshawar, Dhaka
    Chittagong, Colombo, Kathmandu, Kabul, Beijing, Shanghai, Guangzhou, Shenzhen, Chengdu, Chongqing, Tianjin, Wuhan
    Hangzhou, Nanjing, Xi'an, Suzhou, Harbin, Dalian, Qingdao, Taipei, Kaohsiung, Tokyo, Osaka, Kyoto, Yokohama
    Nagoya, Sapporo, Fukuoka, Kobe, Hiroshima, Sendai, Nara, Seoul, Busan, Incheon, Daegu, Pyongyang, Hanoi
    Ho Chi Minh City, Saigon, Da Nang, Bangkok, Chiang Mai, Phuket, Phnom Penh, Vientiane, Yangon, Kuala Lumpur
    Penang, Jakarta, Surabaya, Bandung, Bali, Manila, Cebu, Davao, Quezon City, Sydney, Melbourne, Brisbane, Perth
    Adelaide, Canberra, Hobart, Darwin, Gold Coast, Auckland, Wellington, Christchurch, Dunedin, Queenstown
    Mexico City, Guadalajara, Monterrey, Puebla, Tijuana, Cancún, Cancun, Havana, San Juan, Santo Domingo, Kingston
    Guatemala City, San Salvador, Tegucigalpa, Managua, Panama City, Bogotá, Bogota, Medellín, Medellin, Cali
    Cartagena, Caracas, Maracaibo, Quito, Guayaquil, Lima, Cusco, Arequipa, La Paz, Santa Cruz, Santiago, Valparaíso
    Buenos Aires, Rosario, Mendoza, Montevideo, Asunción, São Paulo, Sao Paulo, Rio de Janeiro, Brasília, Brasilia
    Salvador, Fortaleza, Recife, Curitiba, Porto Alegre, Belo Horizonte, Manaus, Belém
    """
)

PLACES: Final = COUNTRIES | REGIONS | CITIES
# Places that are words or names too: alone they prove little.
AMBIGUOUS_PLACES: Final = word_set(
    """
    Alberta Alexandria Austin Bar Bath Bergen Bradford Buffalo Cali Chad Charlotte Columbus Cordoba Cork Dallas
    Darwin Derby Essen Essex Florence Georgia Granada Guinea Hamilton Houston Jackson Jordan Kent Kingston Lima
    Lincoln Linz Lund Ma Maine Mali Medina Mendoza Midwest Modena Nara Newcastle Nice Norfolk Oceania Orlando Palma
    Parma Perth Phoenix Plymouth Providence Queens Reading Regina Richmond Riga Rosario Salvador Santiago Savannah
    Siena Sofia Split Surat Surrey Togo Toledo Tours Turkey Verona Victoria Virginia Washington Wellington York
    """
)
OF_SEVERAL_WORDS: Final = frozenset(name for name in PLACES if " " in name)
FIRST_OF_SEVERAL: Final = frozenset(name.partition(" ")[0] for name in OF_SEVERAL_WORDS)
