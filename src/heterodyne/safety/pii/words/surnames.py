"""Common surnames of many languages, compiled by hand; endings that make surnames are in `persons.py`."""

from typing import Final

from heterodyne.safety.pii.words.word_set import word_set

SURNAMES: Final = word_set(
    """
    Abbas Abe Acosta Adamczyk Adams Adeyemi Aerts Agarwal Aguilar Aguirre Ahmadi Ahmed Ahn Akhtar Albrecht Alekseev
    Alexander Ali Allen Almeida Alonso Alvarado Alvarez Alves Amato Amundsen Andersen Anderson Andersson Ando
    Andrade Andreassen Andreev Andrews Angulo Ansari Antal Aoki Appiah Araujo Araújo Arias Armstrong Arnaud Arnold
    Arroyo Arslan Arvidsson Asante Aslan Aubert Austin Axelsson Aydın Azevedo Aziz Babić Bai Baig Bailey Baker
    Bakken Bakker Balog Balogh Balogun Banerjee Banks Baran Barbier Barbieri Barbosa Barker Barnes Barone Barrera
    Barrett Barros Bates Batista Bauer Baumann Beck Becker Beckett Begum Belanger Bell Benedetti Beneš Bengtsson
    Bennett Benítez Berg Berger Bergeron Berglund Bergman Bergmann Bergqvist Bergström Bernard Bernardi Berry Bhatt
    Bianchi Bianco Bishop Björk Black Blake Blanc Blanchard Blanco Blažek Blomqvist Boateng Boer Bogdán Bondarenko
    Bonnet Booth Borkowski Boros Bos Bose Botha Bouchard Bowen Bowman Boyd Boyer Božič Bradley Bradshaw Brandt Braun
    Bravo Briggs Broek Brooks Brouwer Brown Brun Brunet Bruno Bryan Bryant Buckley Bui Burgess Burke Burns Burton
    Busch Butler Byrne Bálint Bíró Böhm Caballero Cabrera Cai Calvo Camacho Campbell Campos Cano Cao Caputo Carbone
    Cardoso Carlson Carmona Carpenter Carr Carrasco Carrillo Carroll Carter Caruso Carvalho Casado Castillo Castro
    Cattaneo Cavalcanti Cervantes Chambers Chapman Chatterjee Chauhan Chavez Chen Cheng Chevalier Cho Choi Chopra
    Chowdhury Christensen Christiansen Cisse Claes Claesson Clark Clarke Clausen Clement Coelho Coetzee Cohen Cole
    Coleman Colin Collins Colombo Connolly Conte Conti Contreras Cook Cooper Coppola Correia Cortés Costa Cote Cox
    Crawford Crespo Cruz Cui Cunha Cunningham Curtis Cárdenas DSouza Dahl Dalton Dang Daniels Danielsson Das Davey
    Davidson Davies Davis Dawson Day Dean Dekker Delgado Demir Deng Denis Desai Deák Diallo Dias Diaz Dietrich Diez
    Dijkstra Ding Diop Dixon Dlamini Doherty Doležal Dominguez Domínguez Dong Donnelly Doyle Doğan Du Duarte Dubois
    Dudek Dufour Dumitrescu Dumont Duncan Dunn Duong Dupont Durand Durán Duval Dvořák Dyer Díaz Dąbrowski Eaton
    Edwards Egorov Eide Eklund Ekström Elliott Ellis Endo Engel Engström Eriksen Eriksson Escobar Espinosa Espinoza
    Esposito Esteban Estrada Evans Eze Fabbri Fan Fang Farah Farina Farkas Farrell Faure Fazekas Fedorov Fehér
    Fekete Feng Ferguson Fernandes Fernandez Fernández Ferrara Ferrari Ferreira Ferrer Ferri Fiala Fields Figueroa
    Fiore Fischer Fisher Fitzgerald Fletcher Flores Fodor Fonseca Fontaine Fontana Ford Forsberg Fortin Foster
    Fourie Fournier Fowler Fox Francis Franco Frank Franke Franklin Fransson Fredriksson Freeman Freitas Friedman
    Friedrich Frost Fu Fuchs Fuentes Fujii Fujita Fujiwara Fukuda Fuller Fülöp Gagne Gagnon Gaillard Gallagher
    Gallardo Gallego Galli Gallo Galán Gao Garcia García Gardner Garnier Garrett Garrido Garza Gatti Gauthier
    Gautier Gentile George Georgiou Ghosh Gibbs Gibson Gil Gilbert Giménez Giordano Girard Giraud Giuliani Goldberg
    Golob Gomes Gomez Gonzales Gonzalez González Gonçalves Goodwin Goossens Gordon Goto Gould Graaf Grabowski Graf
    Graham Grant Grassi Grasso Gray Greco Green Greene Griffin Griffiths Groot Groß Guerin Guerra Guerrero Gulyás
    Gundersen Gunnarsson Guo Gupta Gustafsson Gutierrez Gutiérrez Guzman Guzmán Gál Gómez Günther Haas Haddad Hagen
    Hahn Hall Halvorsen Hamdan Hamilton Han Hansen Hanson Hansson Hara Harada Hargreaves Harper Harris Harrison Hart
    Hartley Hartmann Harvey Hasegawa Hashemi Hashimoto Haugen Hawkins Hayashi Hayes He Heath Hedlund Hegedűs
    Heikkilä Heikkinen Heinonen Heinrich Henderson Hendriks Henriksen Henriksson Henry Heredia Hermansson Hernandez
    Hernández Herrera Herrero Herrmann Heuvel Hewitt Hicks Hidalgo Hill Hoang Hodge Hodgson Hoffman Hofmann Holm
    Holmberg Holmes Holmgren Hong Hooper Hope Horn Horvat Horváth Horák Hosseini Hou Howard Howell Hu Huang Huber
    Hudson Hughes Hunt Hunter Hussain Hussein Hutchinson Huynh Hwang Hájek Hämäläinen Håkansson Ibáñez Iglesias
    Ikeda Ilić Ilves Imai Ingram Inoue Ionescu Isaksson Ishida Ishii Ishikawa Islam Ito Ivanov Ivanova Iversen Iyer
    Izquierdo Jabłoński Jackson Jacobs Jacobsen Jafari Jakab Jakobsen Jakobsson James Jang Jankowski Jansen Janssens
    Jansson Jarvis Jaworski Jelínek Jenkins Jensen Jia Jiang Jimenez Jiménez Johannessen Johansen Johansson Johnsen
    Johnson Johnston Jokinen Joly Jones Jonsson Jordan Joshi Jovanović Juhász Jung Jurić Juárez Jäger Järvinen
    Jönsson Jørgensen Kaczmarek Kaiser Kamiński Kaneko Kang Kapoor Kara Karimi Karjalainen Karlsen Karlsson Kask
    Kato Katona Katz Kaur Kavanagh Kaya Keita Kelemen Keller Kelley Kelly Kemp Kennedy Kerr Khan Khanna Khoury
    Khumalo Kim Kimura King Kinnunen Király Kis Kiss Klein Knight Knudsen Kobayashi Koch Kocsis Kok Kolář Kondo
    Koning Koppel Korhonen Koskinen Kovalenko Kovač Kovačević Kovačič Kovács Kovář Kowalczyk Kowalski Kozlov
    Kozłowski Koç Krajnc Kraus Krause Kravchenko Krawczyk Kristensen Kristiansen Kristoffersen Kruger Král Krämer
    Król Krüger Kudo Kuhn Kukk Kurt Kuznetsov Kučera Kwiatkowski Kwon Köhler König Kühn Kılıç Kříž Lacroix Laine
    Laitinen Lakatos Lamb Lambert Lane Lange Lara Larsen Larson Larsson Laurent Lauridsen Lavoie Lawrence Lawson Le
    Leach Lebedev Leblanc Leclerc Lee Leeuwen Lefebvre Lehmann Lehtinen Lehtonen Leiva Lemaire Leone Leroy Levesque
    Levy Lewandowski Lewis León Li Liang Liao Lie Lim Lima Lin Lind Lindberg Linden Lindgren Lindqvist Lindström
    Little Liu Lloyd Lombardi Lombardo Long Longo Lopes Lopez Lorenz Lorenzo Lowe Lozano Lu Lucas Ludwig Lukács Luna
    Lund Lundberg Lundgren Lundin Lundqvist Lundström Luo Luque Ly Lynch László López Löfgren Ma Maas MacDonald
    MacLeod Macdonald Machado Maclean Madsen Maeda Maes Magnusson Magyar Maier Majewski Makarov Maldonado Malhotra
    Malik Malinowski Mancini Manning Mansour Marchand Marchetti Marek Mariani Marini Marino Marić Marković Marques
    Marquez Marsden Marshall Martin Martinelli Martinez Martini Martino Martins Martinsen Martín Martínez Maruyama
    Marín Mason Masson Mathieu Mathisen Matsuda Matsumoto Matthews Mattila Mattsson Mayer Mazur Mazza McCarthy McCoy
    McDonald McDowell McGregor McKenzie McLaughlin Medina Meer Mehta Meier Meijer Mejia Mellor Melnyk Melo Mendes
    Mendez Mendoza Meng Menon Mensah Mercier Merino Mertens Messina Metcalfe Meunier Meyer Michalak Michalski
    Middleton Mikhailov Miller Mills Milošević Miranda Mirza Mishra Mitchell Miura Miyamoto Miyazaki Mizrahi Mlakar
    Moen Mohammadi Mokoena Molina Molnár Montanari Monteiro Montero Montes Montgomery Monti Moore Mora Moradi
    Morales Moreau Moreira Morelli Moreno Moretti Morgan Mori Morin Morita Morozov Morris Morrison Mortensen Moss
    Moura Moya Mueller Mukherjee Mulder Muller Munoz Murakami Murphy Murray Muñoz Myers Márquez Mägi Mäkelä Mäkinen
    Mårtensson Méndez Mészáros Möller Møller Müller Nagy Naidu Nair Najjar Nakagawa Nakajima Nakamura Nakano
    Nakayama Nascimento Nash Nasser Navarro Navrátil Naylor Ndiaye Ndlovu Nel Nelson Neumann Newman Newton Ngo
    Nguyen Nichols Nicolas Nielsen Niemi Nieminen Nieto Nikitin Nikolaev Nikolić Nilsen Nilsson Nishimura Nkosi Noel
    Nordström Norris North Novak Novikov Novotný Novák Nowak Nowicki Nunes Nunez Nwosu Nyberg Nygård Nyström Németh
    Núñez Němec OBrien OConnor ONeill Obi Ochoa Ogawa Ogunleye Oh Ohno Okada Okafor Okamoto Okeke Oliveira Oliver
    Olofsson Olsen Olson Olsson Olszewski Oláh Ono Orlov Orozco Orsós Ortega Ortiz Osborne Osei Ota Otero Otto
    Ouellet Owens Owusu Padilla Palmer Palmieri Palumbo Pan Pandey Pap Papadopoulos Papp Pappas Pardo Paredes Parisi
    Park Parker Parra Parry Parsons Pascual Pastor Patel Patterson Paulsen Pavlov Pavlović Pawlak Pawłowski Payne
    Pearce Pearson Pedersen Peeters Pellegrini Pellegrino Pelletier Pena Peng Pereira Peretz Perez Perkins Perrin
    Perry Persson Peters Petersen Peterson Petit Petrescu Petrov Petrova Petrović Pettersen Pettersson Peña Pfeifer
    Pfeiffer Pham Phan Phillips Pierce Pillai Pinheiro Pinto Pintér Piotrowski Pohl Pokorný Popescu Popov Porter
    Pospíšil Potočnik Potter Poulsen Powell Preston Pretorius Price Prieto Pritchard Procházka Pásztor Pärn Pérez
    Qin Qiu Quinn Quintero Quiroga Qureshi Rahman Ramirez Ramos Ramsey Ramírez Randall Rantanen Rao Rasmussen Ray
    Rebane Reddy Redondo Reed Rees Reid Ren Renard Rey Reyes Reynolds Rezaei Rhodes Ribeiro Ricci Rice Richards
    Richardson Richter Riley Rinaldi Rios Rivas Rivera Riviere Rizzi Rizzo Roberts Robertson Robin Robinson Rocha
    Rodrigues Rodriguez Rodríguez Rogers Rojas Romano Romero Román Rosales Rose Rosenberg Ross Rossetti Rossi Roth
    Rousseau Roussel Roux Rowe Roy Rubio Ruiz Russell Russo Rutkowski Ruud Ryan Ryu Rácz Ríos Růžička Saar Saarinen
    Sabbagh Saito Sakai Sakamoto Sala Salazar Saleh Salinas Salminen Salo Salonen Samuelsson Sanchez Sandberg
    Sanders Sandoval Sanna Santana Santiago Santoro Santos Sanz Sasaki Sato Sauer Savage Savolainen Sayegh Schmid
    Schmidt Schmitt Schneider Scholz Schreiber Schröder Schultz Schulz Schulze Schumacher Schuster Schwarz Schäfer
    Scott Sedláček Seidel Semenov Sen Seo Sepp Serra Serrano Shah Shaheen Sharma Sharp Shaw Shen Shevchenko Shi
    Shibata Shimizu Shin Short Siddiqui Sidorov Sierra Sikora Silva Silvestri Simmons Simon Simpson Sims Singh Sipos
    Sjöberg Slater Smirnov Smirnova Smit Smith Smits Snyder Soares Sokolov Solberg Soler Solís Sommer Somogyi Song
    Soto Sousa Souza Spencer Stanković Steele Stein Stepanov Stephens Stephenson Stevens Stewart Steyn Stojanović
    Stone Strand Ström Stępień Su Sullivan Sun Sundberg Sutton Suzuki Suárez Svendsen Svensson Svoboda Sykes Szabó
    Szalai Szewczyk Szilágyi Szymański Szűcs Sáez Sánchez Sándor Söderberg Sørensen Takagi Takahashi Takeuchi Takács
    Talbot Tamm Tamura Tan Tanaka Tang Taniguchi Tapia Tavares Taylor Teixeira Testa Thomas Thompson Thomsen
    Thornton Tian Tiwari Tkachenko Todd Torres Toure Townsend Tran Traore Trejo Tremblay Trivedi Tucker Tuominen
    Turk Turner Turunen Tóth Török Uchida Ueda Urban Valdez Valdés Valencia Valentini Vaněk Varga Vargas Vasiliev
    Vasquez Vaughan Veen Vega Velasco Venter Vera Verhoeven Verma Vermeulen Veselý Vicente Vidal Vieira Villa
    Villanueva Vincent Vincze Virtanen Visser Vitale Vo Vogel Vogt Voigt Volkov Vos Vu Váradi Vázquez Wada Wade
    Wagner Walczak Walker Wallace Wallin Walsh Walter Walters Wang Ward Warren Washington Watanabe Watkins Watson
    Watts Weaver Webb Weber Wei Weiß Welch Wells Werner West Weston Wheeler White Whitehead Wieczorek Wikström
    Wilkins Wilkinson Willems Williams Williamson Willis Wilson Winkler Winter Wiśniewski Wolf Wolff Wong Wood Woods
    Woodward Wouters Woźniak Wright Wróbel Wu Wójcik Xia Xiao Xie Xiong Xu Yadav Yamada Yamaguchi Yamamoto Yamashita
    Yamazaki Yang Yao Yates Ye Yokoyama Yoon Yoshida Young Yu Yuan Yıldırım Yıldız Yılmaz Zając Zakharov Zamora
    Zeman Zeng Zhang Zhao Zheng Zhong Zhou Zhu Ziegler Zieliński Zimmermann Zou Zupančič Zúñiga Álvarez Åberg Çelik
    Çetin Özdemir Özkan Öztürk Čermák Černý Đorđević Şahin Şimşek
    """
)
# Surnames that are words too.
AMBIGUOUS_SURNAMES: Final = word_set(
    """
    Abe Bai Baker Banks Barker Barnes Barone Beck Bell Berg Berry Bishop Black Blanc Boer Bos Broek Brooks Brown
    Brun Bui Burke Burns Butler Campos Carpenter Carr Chapman Cho Cole Cook Cooper Costa Cox Dahl Dang Das Day Dean
    Du Engel Fan Fang Fields Fisher Flores Ford Foster Fowler Fox Frank Freeman Frost Fu Fuentes Gardner Golob Goto
    Gould Graf Grant Gray Green Groot Guerra Hall Han Hara Harper Hart He Hill Holm Holmes Hope Horn Hu Hunt Hunter
    Ito Jung Kara Kask Kaya Keita Kemp King Klein Knight Kok Koning Koç Kurt Lamb Lane Le Leach Li Lie Lim Lind
    Little Long Longo Lowe Lu Lund Ly Ma Maas Manning Marek Marshall Martin Mason Meer Miller Mills Moen Mori Moss
    Nash Nel Newman Noel North Obi Oh Ono Osei Ota Otto Palmer Pan Park Parsons Perkins Petit Porter Potter Preston
    Price Ray Rey Rice Rose Ross Roth Rowe Saar Sala Santos Savage Sen Shah Sharp Shaw Short Silva Simon Slater Smit
    Smith Sommer Song Steele Stein Stone Strand Su Sun Sutton Sykes Tan Tang Taylor Testa Todd Townsend Turk Turner
    Urban Veen Villa Vo Vos Vu Wade Walker Walsh Ward Warren Watts Weaver Wells West Weston Wheeler White Whitehead
    Winter Wolf Wood Woods Woodward Wright Yates Ye Young
    """
)
