"""Common given names of many languages, compiled by hand. The list is not complete and need not be."""

from typing import Final

from heterodyne.safety.pii.words.word_set import word_set

GIVEN_NAMES: Final = word_set(
    """
    Aafke Aarav Aaron Abby Abdallah Abdul Abdullah Abdulrahman Abebe Abel Abena Abigail Abrehet Achieng Ada Adaeze
    Adam Adebayo Adel Adele Aditya Adnan Adrian Adriana Adrien Adrienn Adéla Aggelos Agnes Agneta Agnieszka Agus
    Ahmad Ahmed Ahmet Ai Aidan Aigerim Aiko Aino Aisha Aivar Aizhan Akash Akemi Akhmed Akiko Akira Akosua Aksel
    Alain Alan Alba Albert Alberto Albrecht Aldo Alejandra Alejandro Aleksandr Aleksandra Aleksei Alena Alenka
    Alessandra Alessandro Alessia Alex Alexa Alexander Alexandr Alexandra Alexandros Alexei Alexey Alexis Aleš Alfie
    Alfonso Alfred Ali Alice Alicia Alicja Aline Alison Alja Alla Allen Alma Alois Alvaro Alyona Alyssa Ama Amadou
    Amaka Amanda Amani Amber Amelia Amin Amina Aminata Amir Amira Amirhossein Amit Amparo Amra Amy Amélie Ana Ananya
    Anas Anastasia Anastasiya Anatoly Anaïs Anders Andre Andrea Andreas Andreea Andrei Andrej Andres Andrew Andrey
    Andrus Andrzej András André Andrés Andy Anette Angel Angela Angeliki Angelo Anh Anikó Anil Anita Anja Anjali
    Anke Ann Anna Anna-Karin Annabel Annalisa Anne Anneke Anneli Annelies Annemarie Annette Annick Annie Annika
    Anouk Ante Anthony Antje Antoine Anton Antonella Antonia Antonina Antonio Antonis Antonín Antti Antônio Anu
    Anushka Anwar Anže Aparna Apostolos April Araceli Arash Archana Archie Ari Arianna Arjun Arkady Arlene Armando
    Armin Arnar Arnaud Arne Aroha Arseny Artem Arthur Arto Artur Arturo Artyom Arun Asbjørn Asha Ashley Ashok Ashraf
    Ashton Aslan Asma Astrid Asuka Asya Athanasios Atsuko Attila Audrey Aurélien Austin Auður Ava Avi Axel Aya Ayaka
    Ayden Aygul Ayman Ayumi Ayşe Azadeh Aziz Babak Balázs Baptiste Baraka Barbara Barbora Barbro Bartosz Bas Basma
    Beata Beatrice Beatriz Beau Becky Behnam Behrouz Bekele Belinda Ben Bence Benedetta Benedikt Bengt Benjamin
    Benoît Bent Berit Bernadette Bernard Bernardo Bernd Bertha Bethany Betty Beverly Beáta Bhavna Bianca Bijan Bilal
    Biljana Billy Bin Bindi Birger Birgir Birgit Birgitta Bjarne Bjarni Björn Blake Blanca Blanka Bo Bob Bobby Bodil
    Bogdan Boglárka Bogumiła Bogusław Bohdan Bohumil Bojan Bolesław Bonnie Boris Borut Boštjan Bożena Božena Brad
    Bradley Brady Bram Brandon Branka Branko Brenda Brendan Breno Brett Brian Brianna Bridget Brigitte Britt Britta
    Brittany Brittney Brock Bronisław Brooke Bruce Bruna Bruno Bryan Bryce Bryndís Budi Burak Byron Bärbel Béla
    Børge Caio Caitlin Caitlyn Caleb Callum Cameron Camila Camilla Camille Camilo Can Candace Carl Carla Carlo
    Carlos Carmela Carmen Carol Carolien Carolina Caroline Carolyn Carrie Carson Carsten Carter Casey Cassandra
    Cassidy Catalina Catarina Catherine Cecilia Cecilie Cedric Celia Cem Cesar Chad Chaim Chantal Charles Charlotta
    Charlotte Chelsea Cheng Cheryl Chester Chiara Chidi Chie Chieko Chinedu Chioma Chitra Chiyo Chloe Chloé Chris
    Christa Christel Christer Christian Christina Christine Christoph Christophe Christopher Christos Chrysoula Chun
    Cinzia Ciprian Claire Clara Clarence Claudia Claudine Claudio Clay Clayton Clifford Clinton Clément Cody Cole
    Colette Colin Colleen Colton Concepción Connie Connor Conor Constance Constantin Consuelo Cora Corey Corinne
    Cornelia Cornelis Courtney Craig Cristian Cristina Cristóbal Crystal Csaba Csilla Curtis Cynthia Cyrus Czesław
    Czesława Cécile Cédric Céline César Cătălin Daan Dagmar Daisy Dale Dalia Damian Damir Damon Dan Dana Danica
    Daniel Daniela Danielle Danny Danuta Danylo Daphne Daria Darinka Darius Dariush Dariusz Darko Darrell Darren
    Darryl Darya Daryl Dave Davi David Davide Davor Dawid Dawn Dean Debora Deborah Debra Declan Deepa Deepak Deepika
    Dejan Della Delphine Denis Denise Deniz Dennis Derek Desislava Desmond Despina Detlef Dewi Dexter Dezső Diana
    Diane Didier Diego Dieter Dimitar Dimitra Dimitrios Dimitris Dina Dinesh Dirk Divya Dmitri Dmitriy Dmitry Dmytro
    Dolores Domenico Domingo Dominic Dominique Donald Donatella Dong Donna Donovan Dora Doreen Doris Dorota Dorothy
    Dorte Douglas Dov Dragan Dragana Dražen Duarte Dubravka Dubravko Duc Dumitru Duncan Dušan Duško Dwayne Dwight
    Dylan Dániel Dávid Débora Dóra Dörte Earl Ebba Eberhard Edda Eddie Edgar Edit Edith Edmund Eduarda Eduardo
    Edward Edwin Edyta Eero Eeva Efua Ehsan Eileen Einar Eino Eirik Eitan Ekaterina Elaine Eleanor Elena Eleni
    Eleonora Elfriede Elham Eli Elias Elif Elijah Elin Elina Eline Elisa Elisabeth Eliza Elizabeth Eliška Elke Ella
    Ellen Elliot Eloise Els Elsa Elsie Elton Elvira Elín Elżbieta Emanuela Embla Emeka Emelie Emese Emi Emilia
    Emilio Emily Emine Emir Emma Emmanuel Emre Enikő Enrique Enzo Erdem Eri Eric Erica Erich Erik Erika Erin Erla
    Erling Ernest Ernesto Ernst Ernő Erzsébet Esa Esmee Espen Esperanza Esra Esteban Estela Estelle Esther Eszter
    Ethan Etsuko Eugene Eugenia Eunji Eva Evan Evangelia Evangelos Eve Evelyn Evgenia Evgeny Ewa Ewan Ewelina
    Ezekiel Ezra Fabian Fabiana Fabien Fabio Fabiola Fabrice Fabrizio Fadi Fadia Faisal Faith Faiza Farah Farhad
    Farid Farida Faris Farshid Farzaneh Fatemeh Fatima Fatma Fatoumata Faye Federica Federico Fei Felicity Felipe
    Felix Femi Femke Feng Ferenc Fernanda Fernando Feven Filip Filomena Finja Finn Fiona Fiorella Flemming Fleur
    Floor Florence Florian Florin Floris Flávio Folake Forrest Fotini Fouad Frances Francesca Francesco Francis
    Francisco Franciszek Franco Francois Frank Frans František Franz Franziska François Françoise Freddie Frederic
    Frederick Fredrik Freja Freya Freyja Frida Frieda Friedrich Fritz Frode Frédéric Fumiko Fyodor Fábio Fátima
    Félix Gabriel Gabriela Gabriele Gabriella Gabrielle Gaia Gail Galina Ganesh Gang Garrett Garth Gary Gaston
    Gaurav Gavin Gayatri Gašper Geert Geertje Geeta Geir Gemma Geneviève Gennady Gennaro Genowefa Geoffrey George
    Georgi Georgia Georgiana Georgios Georgy Gerald Geraldine Gerardo Gerda Gergely Germain German Germán Gerrit
    Gertrude Ghada Ghassan Gheorghe Giacomo Giada Gianluca Gianna Gianni Gideon Gijs Gilberto Gillian Gina Ginevra
    Ginger Giorgia Giorgio Giorgos Giovanna Giovanni Gisela Gisèle Giulia Giuliana Giuseppe Giuseppina Gladys Gleb
    Glenn Gloria Golnaz Gonzalo Gonçalo Gopal Goran Gordana Gordon Gosia Grace Graciela Graeme Graham Grayson Grazia
    Grażyna Greetje Greg Gregor Gregory Greta Grete Griet Grigory Gro Grzegorz Grégoire Guadalupe Gudrun Guido
    Guilherme Guillaume Guillermo Gulnara Gun Gunilla Gunnar Gunther Guo Gustaf Gustav Gustavo Guy Guðbjörg Guðjón
    Guðmundur Guðrún Gwen Gyula György Gábor Gérald Gérard Géza Gísli Göran Gül Günther Haakon Habib Hafsa Hai Haile
    Hailey Hajnalka Hakan Hakon Hala Haley Halina Halldór Halvor Halyna Hamed Hamid Hamza Hana Hanako Hanan Hani
    Hannah Hanne Hanneke Hannelore Hannu Hans Hao Harald Haris Harish Harold Haroun Harri Harriet Harry Haruka
    Haruki Harumi Haruto Harvey Hasan Hassan Hatice Haukur Hazel Heather Heba Hector Hedda Hedvig Heidi Heike Heikki
    Heinz Helen Helena Helga Helgi Helle Helmi Helmut Hendrik Hengameh Henk Henna Henri Henriette Henrik Henrique
    Henry Henryk Herbert Herman Hernán Hervé Hideki Hideo Hikari Hilary Hilda Hilde Hildegard Hildur Hilmar Hine
    Hiroko Hiroshi Hisako Hisham Hitomi Hoa Holger Holly Homer Hong Hooman Horace Horst Hossein Howard Hrafnhildur
    Hristo Hrvoje Hua Huda Hudson Hugh Hugo Huguette Hui Hung Hunter Huong Husain Hussein Huy Hyun Hyunwoo Håkan
    Håkon Héctor Hélène Hülya Hüseyin Ian Ibrahim Ibrahima Ichiro Ida Ifeanyi Ifeoma Ignacio Igor Ihor Ikenna Ilaria
    Ildikó Ileana Ilkka Ilmari Ilona Ilse Ilya Imad Iman Immacolata Imogen Imran Imre Indira Indrek Ineke Ines Inga
    Inge Ingeborg Inger Ingi Ingibjörg Ingrid Ingvar Inna Innokenty Inès Inés Inês Ioana Ioanna Ioannis Ion Ionuț
    Iraj Irena Irene Irina Iris Irvin Irving Iryna Irén Isaac Isabel Isabela Isabella Isabelle Isaiah Isla Ismael
    Ismail István Itzhak Ivan Ivana Ivar Iveta Ivica Ivor Ivy Iván Iwona Izabela Jaakko Jaan Jaap Jabulani Jacek
    Jack Jackie Jacob Jacqueline Jacques Jaden Jadranka Jadwiga Jahangir Jaime Jake Jakob Jakub Jamal James Jamie
    Jamila Jamshid Jan Jana Jane Janek Janelle Janet Janez Jani Janice Janina Janne Jannike Janusz Jared Jari Jarmo
    Jaroslav Jaroslava Jarosław Jarrah Jasmin Jasmine Jasna Jason Jasper Javad Javier Jay Jaya Jean Jeanette Jeanne
    Jeff Jefferson Jeffery Jeffrey Jelena Jenna Jenni Jennifer Jenny Jens Jenő Jeremiah Jeremy Jermaine Jernej
    Jeroen Jerome Jerry Jerzy Jesper Jesse Jessica Jesús Jette Jian Jie Jihoon Jill Jillian Jim Jimin Jimmy Jing
    Jiro Jisoo Jitka Jiwoo Jiyeon Jiřina Jiří Jo Joachim Joakim Joan Joana Joanna Joanne Joao Joaquin Joaquín
    Jocelyn Jodie Joe Joel Joey Johan Johann Johanna Johanne Johannes John Johnny Joke Jolanda Jolanta Jon Jonas
    Jonathan Jonna Joost Jordan Jorge Joris Jose Josef Josefa Joseph Josephine Joshua Josiah Josip José Joséphine
    Jouni Jovan Joyce Jozef João Juan Juana Jude Judit Judith Judy Juergen Juha Juhani Jukka Julia Julian Julianna
    Julie Julien Julieta Juliette Julio Juma Jun Junichi Juraj Jure Jurij Jussi Justin Justyna Jutta Jyoti Jytte Ján
    János Jérôme Jóhann Jóhanna Jón Józef József Jökull Jörg Jörgen Jørgen Júlia Jürgen Jüri Kaarina Kadri Kai Kaija
    Kaisa Kaitlyn Kaito Kaja Kajsa Kalle Kalliopi Kamau Kamil Kamila Kamran Kaori Kara Karan Kareem Karel Karen Kari
    Karim Karin Karina Karl Karl-Heinz Karolina Karoline Karsten Kasia Kasper Katalin Katarina Katarzyna
    Katarína Kate Katerina Kateřina Katharina Katherine Kathleen Kathrin Kathryn Kathy Katie Katja Katri Katrin
    Katrine Katrín Katsumi Kaua Kauã Kaveh Kavita Kavya Kayla Kaylee Kazimiera Kazimierz Kazuki Kazuko Kazuo Kazuya
    Kees Keiichi Keiko Keith Kelechi Kelly Kelsey Kelvin Kemal Ken Kendall Kendra Kenji Kenneth Kenta Kersti Kerstin
    Ketil Ketut Kevin Khadija Khaled Khalid Khanh Kian Kieran Kiko Kim Kimberly Kimmo Kinga Kira Kiran Kirill Kirk
    Kirsi Kirsten Kirsti Kjell Kjersti Klara Klaus Klavdia Klemen Klára Koen Koffi Kofi Koichi Konrad Konstantin
    Konstantina Konstantinos Kornél Kostas Kota Kouassi Kourosh Krasimir Krešimir Krishna Kristel Kristen Kristian
    Kristin Kristina Kristine Kristinn Kristjan Kristján Kristoffer Kristín Krisztina Krisztián Krystyna Krzysztof
    Ksenia Kseniya Kumar Kumiko Kunle Kurt Kurtis Květa Kwabena Kwame Kyle Kylie Kyoko Kyriaki Kyösti Kálmán Károly
    Kåre Ladislav Laetitia Laila Lajos Lakshman Lakshmi Laleh Lamar Lamia Lan Lance Landon Lara Larisa Larissa Larry
    Lars Lasse Lata Latifa Latoya Laura Lauren Laurent Lauri Lawrence Layla Leah Leandro Lech Lee Leelo Leena Lei
    Leif Leila Lejla Leland Lena Lene Lenka Lennart Leo Leon Leonard Leonardo Leonhard Leonid Leonie Leonor Lerato
    Leroy Leslie Leszek Leticia Letizia Letícia Lev Levente Levi Lewis Li Lia Liam Libor Libuše Lidia Lidiya Lieke
    Lieselotte Lieve Liisa Liliana Lilja Lilla Lillian Lily Lin Lina Linda Lindsay Lindsey Ling Linh Linn Linnea
    Linus Lionel Lisa Lisbet Lise Liv Livia Liviu Ljiljana Lloyd Logan Lone Long Lonnie Loredana Lorena Lorenzo
    Loretta Lori Lorraine Lotte Louis Louise Lourdes Lovisa Luana Lubna Luboš Luc Luca Lucas Lucia Luciano Lucie
    Lucrezia Lucy Lucía Ludmila Ludwig Ludwik Luigi Luigia Luis Luisa Luiz Luka Lukas Luke Lukáš Luna Luuk Luz Luís
    Lydia Lyle Lynn Lyubov Lyudmila László Léa Lívia Maaike Maarit Maarten Mabel Maciej Mackenzie Madalena Maddalena
    Made Madhuri Madison Mads Magdalena Magdolna Maggie Magnus Magnús Maha Mahesh Mahmoud Mahnaz Mai Maie Maik Maja
    Majda Majid Makar Makayla Makena Maki Makoto Maksim Mala Malak Malcolm Malee Malene Malik Malin Mamadou Mami
    Mandla Mandy Manfred Manish Manisha Manoj Manolis Manon Mansour Manuel Manuela Mara Marc Marcela Marcella
    Marcelo Marcia Marcin Marco Marcos Marcus Mareike Marek Margaret Margareta Margarete Margarita Margaux
    Margherita Margit Margrethe Margriet Margrét Marguerite Margus Mari Maria Mariam Mariama Marian Mariana Marianna
    Marianne Mariano Maribel Marie Marieke Mariella Marija Marije Marijke Mariko Marilyn Marina Marine Mario Marion
    Marisa Marisol Marissa Marit Marius Mariusz Marja Marjan Marjatta Marjeta Marjorie Markku Marko Markus Markéta
    Marleen Marlene Marlies Marsha Marshall Mart Marta Martha Martin Martina Martine Martín Marvin Marwan Mary
    Maryam María Masahiro Masako Masao Masaru Mason Masoud Massimo Mate Matej Mateo Mateusz Mathieu Mathilde Matija
    Matilde Matjaž Mats Matt Matteo Matthew Matthias Matthías Matti Mattias Matías Matěj Maureen Maurice Mauricio
    Maurizio Max Maxim Maxime Maximilian Maxine Maya Mayumi Małgorzata Mckenzie Meena Meera Megan Meghan Megumi
    Mehdi Mehmet Mehran Mei Melanie Melissa Melvin Mercedes Mere Merete Merve Mervyn Meryem Metka Mette Mia Micah
    Michael Michaela Michal Michalis Michał Michel Michela Michele Michelle Michiko Mick Midori Mieczysław Miguel
    Miha Mihaela Mihai Mihkel Miho Mihály Mika Mikael Mike Mikhail Miki Mikkel Mikko Miklós Milan Mildred Milena
    Miles Milica Millie Miloslava Miloš Milton Min Mina Minako Ming Minh Minho Minjun Minna Minnie Minoru Mira
    Miranda Mireille Mirella Miriam Mirjam Mirjana Mirko Miroslav Mirosław Mirosława Misaki Mitchell Mitra Mitsuko
    Miyuki Miłosz Mladen Mogens Mohamed Mohammad Mohammed Mohan Mohini Mohsen Mojca Molly Momoko Mona Monica Monika
    Monique Montserrat Morgan Moritz Morris Morten Morteza Moses Moshe Mostafa Moussa Muhammad Mukesh Muna Munir
    Murat Muriel Murilo Mustafa Mwangi Mya Mykhailo Mykola Myles Myra Márcio Mária Mátyás Máté Mélanie Mónica Mónika
    Na Nabil Nada Nader Nadezhda Nadia Nadine Najwa Nam Nana Nanami Nancy Nandini Nanna Naoki Naoko Naomi Nasir
    Nasrin Nasser Natalia Natalie Nataliia Nataliya Natalya Natasha Nataša Nathalie Nathan Nathaniel Natsuki Natálie
    Naveen Navid Nawal Nazanin Nebojša Neha Neil Nele Nellie Nelly Nelson Nenad Nevena Neža Nga Ngoc Ngozi Nguyen
    Nhung Nicholas Nick Nicola Nicolae Nicolai Nicolas Nicole Nicoletta Nicolás Niels Nienke Nigel Niina Nikhil
    Nikita Niklas Nikola Nikolai Nikolaos Nikolay Nikos Niloufar Nils Nina Nino Nisha Nitin Nizar Njoroge Noa Noah
    Noam Noboru Noelia Nolan Nomsa Noor Nora Norbert Noriko Norma Norman Nour Noura Noémie Nuno Nuria Nurlan Nyoman
    Nóra Obinna Octavio Océane Odd Odette Oksana Ola Ole Oleg Oleksandr Oleksii Olena Olesya Olga Olive Oliver
    Olivia Olivier Oliwia Olle Olli Ollie Olof Olu Omar Omid Ondřej Orhan Ornella Orsolya Osama Osamu Oscar Oskar
    Osman Otieno Otis Ottavio Otto Ottó Otávio Ousmane Outi Ovidiu Owen Oľga Paavo Pablo Padma Paige Pallavi Palle
    Paloma Pam Pamela Panagiota Panagiotis Pankaj Paola Paolo Paraskevi Parisa Parker Parviz Pascal Pascale Pascual
    Pasquale Patrice Patricia Patrick Patrizia Patryk Patsy Paul Paula Paulina Pauline Paulo Pavel Pavla Paweł Payam
    Paz Peder Pedro Peeter Peggy Pekka Penelope Peng Pentti Per Percy Pernille Perry Petar Peter Petr Petra Petri
    Petro Petros Petter Peyton Philip Philipp Philippe Phillip Phoebe Phuong Phyllis Pierre Piet Pieter Pietro Pilar
    Pina Ping Piotr Piper Pirjo Pirkko Piroska Pita Plamen Polina Polona Pooja Poppy Poul Pouya Pradeep Prakash
    Praveen Preben Predrag Preeti Prema Preston Priit Priscilla Priya Priyanka Przemysław Putri Pyotr Páll Päivi Pär
    Péter Qasim Qiang Qing Quan Quang Quentin Quincy Rachel Radek Radha Radka Radosław Radovan Radu Rafael Rafaela
    Rafał Raffaele Raffaella Ragnar Ragnheiður Ragnhild Rahul Raija Raimo Rainer Raisa Raj Rajesh Rajiv Rakesh Ralf
    Ralph Raluca Ramazan Ramesh Rami Ramin Ramon Ramona Ramzan Ramón Rana Randi Randy Rangi Rani Rania Raphaël
    Raquel Rasha Rashid Rasmus Ratko Raul Ravi Ray Rayan Raymond Raúl Reagan Rebeca Rebecca Reece Reem Regina
    Reginald Reijo Reiko Rein Reinhard Rekha Ren Renan Renata Renate Renato Rene René Reuben Rex Reza Rezső Rhonda
    Rhys Ricardo Riccardo Richard Richárd Rick Ricky Rie Riikka Riitta Rik Rika Riku Riley Rima Rimma Rin Rina Risto
    Rita Ritu Rivka Roald Rob Robert Roberta Roberto Robin Robyn Rocco Rochelle Rocio Rocío Rodney Rodrigo Roel
    Rogelio Roger Rogério Rohan Rohit Rok Roland Rolf Romain Roman Romano Ron Ronald Rong Ronja Ronnie Roos Rory
    Rosa Rosanna Rosaria Rosario Rosemarie Rosemary Roshni Rosie Ross Rossella Rostislav Roxana Roxanne Roy Roya
    Ruben Ruby Rubén Rufus Rui Rune Rupert Ruslan Russell Rustam Ruth Ryan Ryo Ryota Ryszard Réka Rémi Róbert
    Rüdiger Răzvan Růžena Saad Saara Sabine Sabrina Saburo Sachiko Sachin Saeed Saeid Sahar Said Sakari Saku Sakura
    Salah Salem Salim Sally Salma Salvador Salvatore Sam Samantha Sami Samir Samira Samo Samuel Sana Sandeep Sander
    Sandra Sandrine Sangeeta Sanja Sanjay Sanna Sanne Santiago Santos Saori Sara Sarah Sarita Sasa Saskia Satish
    Satomi Satoshi Satu Saul Savita Sawsan Sayuri Saša Scarlett Scott Sean Sebastian Seema Segun Seija Seiji Selam
    Selim Selina Selma Semhar Semyon Senka Seojun Seppo Serena Sergei Sergey Sergio Serhiy Serkan Setareh Seth
    Setsuko Sevgi Seydou Shabnam Shadi Shahla Shahram Shaima Shalini Shane Shankar Shannon Shanti Sharif Sharon
    Shaun Shawn Sheila Shelby Sheldon Sherman Sherry Shigeru Shilpa Shin Shinji Shira Shirin Shirley Shiro Shizuka
    Shlomo Shota Shreya Siavash Siddharth Sidney Siegfried Sierra Signe Sigrid Sigríður Sigrún Sigurd Sigurður Siim
    Siiri Silje Silke Silvana Silvia Silvio Simen Simon Simona Simone Sindre Siniša Sipho Siri Siriporn Sirpa Sita
    Siti Siv Sjoerd Skylar Slavica Slobodan Smita Sneha Snezhana Snežana Sofia Sofie Sofía Soheila Sohrab Sointu
    Solange Soledad Solveig Somchai Somsak Sonal Sonia Soojin Sophia Sophie Soraya Sorin Sota Sotiris Spencer Spyros
    Sri Srinivas Srđan Stanislav Stanisław Stanisława Stanley Stavros Stavroula Steen Stefan Stefania Stefanie
    Stefano Steffi Stefán Steinunn Stelios Stella Stepan Stephan Stephanie Stephen Stevan Steve Steven Stewart Stian
    Stig Stijn Stina Stjepan Stoyan Stuart Sture Stéphane Subhash Sudha Sudhir Sue Suha Sujata Sulaiman Sumiko
    Summer Sung Sunil Sunita Sunna Sunniva Suraj Suresh Susan Susana Susanna Susanne Sushma Susumu Suzanne Svea
    Svein Sveinn Sven Svend Svenja Sverre Svetlana Svyatoslav Swati Swen Sylvain Sylvia Sylvie Sylwia Synne Szabolcs
    Szilvia Szymon Sándor Sébastien Søren Sławomir Tabitha Tadashi Tadej Tadeusz Taina Taisia Takashi Takeshi Takumi
    Talia Tamar Tamara Tamiko Tammy Tamás Tane Tanja Tao Tapani Tapio Tara Taraneh Taras Tarek Tariq Tarja Tarmo
    Tatiana Tatjana Tatsuya Tatyana Ted Teemu Teija Teodora Teresa Tereza Terhi Terje Tero Terrence Terry Tesfaye
    Tess Tetiana Tetsuya Teun Thabo Thanasis Thandiwe Thanh Thao Thea Thelma Theo Theodore Theodoros Theresa Therese
    Thi Thiago Thibault Thierry Thijs Thomas Thor Thora Thorbjörn Thorsten Thuy Tiago Tibor Tiffany Tihomir Tiina
    Tiit Tijana Tijs Tilde Tim Timo Timofey Timothy Timur Tina Tineke Ting Tiziana Tobias Toby Todd Todor Toivo
    Tolga Tom Tomasz Tomislav Tommaso Tommy Tomoko Tomomi Tomás Tomáš Tone Toni Tony Toomas Tor Torben Torbjørn Tore
    Tormod Torsten Toru Toshiko Toshio Tove Tracy Trang Travis Trent Trevor Triin Trine Tristan Troels Trond Troy
    Trudy Trung Truus Trygve Tsegaye Tsutomu Tsvetelina Tuan Tucker Tuija Tunde Tung Tuomas Turid Tuula Tuva Tuyet
    Tyler Tyrone Tytti Tânia Tímea Tõnu Tünde Uffe Ugo Ulf Ulla Ulrich Ulrike Ulyana Uma Umar Umberto Unni Unnur
    Urban Urho Urmas Uroš Ursel Ursula Urszula Urška Usha Uta Ute Uwe Vadim Vahid Valentin Valentina Valeria Valerie
    Valerio Valery Van Vandana Vanessa Varun Varvara Vasco Vasile Vasiliki Vasilis Vasilisa Vasily Vassilis Vedran
    Veikko Velimir Venkat Venla Vera Verna Vernon Veronica Veronika Verónica Vesna Vibeke Vicente Vicky Victor
    Victoria Vidar Vidya Viggo Vijay Vikas Vikram Viktor Viktoria Viktória Vilho Ville Villy Vilmos Vinay Vincent
    Vincenzo Vinod Viola Violet Virgil Virginia Virginie Virpi Vishal Vitaly Vitor Vittorio Vitória Vivek Viveka
    Vivian Viviana Višnja Vlad Vladan Vladimir Vladimír Vladislav Vlasta Vojislav Vojtech Vojtěch Volkan Volker
    Volodymyr Vratislav Vsevolod Vuk Vyacheslav Václav Väinö Véronique Víctor Vítor Věra Wade Wael Wagner Waldemar
    Walid Wallace Walter Waltraud Wanda Wanjiru Warren Wayan Wayne Wei Wenche Wendell Wendy Werner Weronika Wesley
    Whitney Wiesław Wiesława Wiktoria Wilbur Wilhelm Wilhelmina Willem Willemijn William Willie Wilma Wim Winifred
    Wiremu Wissam Witold Wojciech Wolfgang Wouter Wyatt Władysław Xavi Xavier Xia Xiao Ximena Xin Xiu Yaakov Yael
    Yahya Yakov Yan Yana Yang Yann Yannis Yaroslav Yasaman Yash Yasin Yasmin Yasmine Yasser Yasuko Yaw Yegor
    Yekaterina Yelena Yetunde Yevgeny Yevhen Ying Ylva Yoko Yolanda Yonas Yong Yosef Yoshiko Yoshio Youssef Yu Yui
    Yuka Yukari Yuki Yukio Yuko Yulia Yuliia Yuliya Yumi Yumiko Yun Yuna Yuri Yuriko Yury Yusuf Yusuke Yuta Yuto
    Yves Yvette Yvonne Yılmaz Zachary Zack Zahra Zaid Zainab Zakaria Zakhar Zane Zara Zaur Zaynab Zbigniew Zdeněk
    Zdeňka Zdravko Zdzisław Zeinab Zenon Zeynep Zhen Zhi Ziad Zinaida Zita Zlatko Zoe Zofia Zoltán Zoran Zorica Zoya
    Zsolt Zsuzsanna Zsófia Zuzana Zuzanna Zygmunt Ádám Ágnes Ákos Álvaro Ángel Ángela Árni Árpád Ásta Åge Åsa Åse
    Élise Élodie Émilie Étienne Éva Ólafur Ólöf Óscar Ömer Öyvind Özlem Øyvind Ülle Þór Þórunn Þórður İbrahim
    Ľudmila Łukasz Špela Štefan Šárka Żaneta Željka Željko Žiga
    """
)
# Given names that are words or places too: alone they prove little.
AMBIGUOUS: Final = word_set(
    """
    Ai Alba Ali Alma Amani Amber Angel Ann Anu April Asha Austin Baraka Bas Bin Birger Blanca Bo Bob Can Carolina
    Chad Charlotte Christian Concepción Consuelo Crystal Daan Daisy Dale Dan Dana Dawn Dean Dewi Dolores Domingo
    Dong Earl Edda Embla Esperanza Eve Faith Faye Finn Fleur Floor Florence Francis Frank Gang Georgia German Ginger
    Grace Guadalupe Gun Guy Harry Hazel Hine Holly Hung Hunter Ines Inna Ion Iris Ivy Jack Jan Jasmine Jay Jo Joan
    Jordan Juma Jun Kai Ken Kim Kiran Klara Lan Lance Lasse Lee Lei Lev Li Lily Lin Liv Lone Long Luna Luz Made
    Madison Mai Malik Marina Mart Mate Max Maya Mercedes Mere Mika Miles Min Ming Mira Mona Na Nada Nick Nina Noor
    Odd Olive Paz Per Pilar Pita Poppy Radu Rangi Ray Rein Ren Rex Reza Rik Rin Rob Robin Rok Roman Roos Rosa
    Rosemary Ruby Said Salvador Samo Santos Setareh Sierra Soledad Sri Sue Summer Sung Tane Tao Tara Thor Tiffany
    Tim Ting Tom Tone Tony Urban Usha Van Vera Victor Victoria Viola Violet Virginia Wade Warren Wei Xin Yan Yu
    """
)
