"""The words of the grammar, in four languages, as tables.

One row is one concept. In a cell, blanks separate tokens. `word/01` says which of the
English tokens (0, 1) a token stands for, `word/-` that it stands for none; a token
without such a mark stands for all of them.
"""

# English sg | pl | type and tags | French sg | pl | gender | German sg | pl | gender
# and, for weak nouns, the form outside the nominative | Japanese
# Types: person animal thing food drink place. he, she, one: the pronoun of a person.
# my: can be owned; single: an owner has one of it. in: one can be inside; at: one can
# be behind it or in front of it. large, wing, tsu: how Japanese counts them. The other
# tags say which verbs and adjectives fit.
NOUNS_TABLE = """
man | men | person he | homme | hommes | m | Mann | Männer | m | otoko no hito
woman | women | person she | femme | femmes | f | Frau | Frauen | f | onna no hito
boy | boys | person he | garçon | garçons | m | Junge | Jungen | m Jungen | otoko no ko
girl | girls | person she | fille | filles | f | Mädchen | Mädchen | n | onna no ko
child | children | person one | enfant | enfants | m | Kind | Kinder | n | kodomo
king | kings | person he | roi | rois | m | König | Könige | m | ōsama
queen | queens | person she | reine | reines | f | Königin | Königinnen | f | joō
mother | mothers | person she my single | mère | mères | f | Mutter | Mütter | f | hahaoya
father | fathers | person he my single | père | pères | m | Vater | Väter | m | chichioya
fisherman | fishermen | person he | pêcheur | pêcheurs | m | Fischer | Fischer | m | ryōshi
actress | actresses | person she | actrice | actrices | f | Schauspielerin | Schauspielerinnen | f | joyū
doctor | doctors | person one my | médecin | médecins | m | Arzt | Ärzte | m | isha
teacher | teachers | person one my | professeur | professeurs | m | Lehrer | Lehrer | m | sensei
student | students | person one | étudiant | étudiants | m | Student | Studenten | m Studenten | gakusei
painter | painters | person one | peintre | peintres | m | Maler | Maler | m | gaka
friend | friends | person one my same | ami | amis | m | Freund | Freunde | m | tomodachi
dog | dogs | animal my hunter | chien | chiens | m | Hund | Hunde | m | inu
cat | cats | animal my hunter prey | chat | chats | m | Katze | Katzen | f | neko
bird | birds | animal wing prey | oiseau | oiseaux | m | Vogel | Vögel | m | tori
horse | horses | animal my large prey | cheval | chevaux | m | Pferd | Pferde | n | uma
mouse | mice | animal prey | souris | souris | f | Maus | Mäuse | f | nezumi
rabbit | rabbits | animal my prey | lapin | lapins | m | Kaninchen | Kaninchen | n | usagi
bear | bears | animal large hunter | ours | ours | m | Bär | Bären | m Bären | kuma
owl | owls | animal wing hunter | hibou | hiboux | m | Eule | Eulen | f | fukurō
cow | cows | animal large prey | vache | vaches | f | Kuh | Kühe | f | ushi
elephant | elephants | animal large | éléphant | éléphants | m | Elefant | Elefanten | m Elefanten | zō
frog | frogs | animal prey | grenouille | grenouilles | f | Frosch | Frösche | m | kaeru
tortoise | tortoises | animal my | tortue | tortues | f | Schildkröte | Schildkröten | f | kame
lion | lions | animal large hunter | lion | lions | m | Löwe | Löwen | m Löwen | raion
book | books | thing my text light | livre | livres | m | Buch | Bücher | n | hon
letter | letters | thing my text light | lettre | lettres | f | Brief | Briefe | m | tegami
newspaper | newspapers | thing my news light | journal | journaux | m | Zeitung | Zeitungen | f | shinbun
car | cars | thing my machine vehicle | voiture | voitures | f | Auto | Autos | n | kuruma
bicycle | bicycles | thing my machine vehicle | vélo | vélos | m | Fahrrad | Fahrräder | n | jitensha
table | tables | thing my round heavy tsu | table | tables | f | Tisch | Tische | m | tēburu
chair | chairs | thing my heavy tsu | chaise | chaises | f | Stuhl | Stühle | m | isu
door | doors | thing opens heavy | porte | portes | f | Tür | Türen | f | doa
window | windows | thing opens round tsu | fenêtre | fenêtres | f | Fenster | Fenster | n | mado
box | boxes | thing opens heavy light tsu | boîte | boîtes | f | Kiste | Kisten | f | hako
clock | clocks | thing my machine round tsu | horloge | horloges | f | Uhr | Uhren | f | tokei
key | keys | thing my light | clé | clés | f | Schlüssel | Schlüssel | m | kagi
flower | flowers | thing light grows | fleur | fleurs | f | Blume | Blumen | f | hana
sunflower | sunflowers | thing light grows | tournesol | tournesols | m | Sonnenblume | Sonnenblumen | f | himawari
dress | dresses | thing my cloth light | robe | robes | f | Kleid | Kleider | n | doresu
hat | hats | thing my cloth light tsu | chapeau | chapeaux | m | Hut | Hüte | m | bōshi
umbrella | umbrellas | thing my light blue | parapluie | parapluies | m | Regenschirm | Regenschirme | m | kasa
washing machine | washing machines | thing my machine heavy | machine/1 à/- laver/0 | machines/1 à/- laver/0 | f | Waschmaschine | Waschmaschinen | f | sentakuki
alarm clock | alarm clocks | thing my machine round light | réveil | réveils | m | Wecker | Wecker | m | mezamashidokei
apple tree | apple trees | thing grows at | pommier | pommiers | m | Apfelbaum | Apfelbäume | m | ringo/0 no/- ki/1
cherry tree | cherry trees | thing grows at | cerisier | cerisiers | m | Kirschbaum | Kirschbäume | m | sakura/0 no/- ki/1
apple | apples | food fruit | pomme | pommes | f | Apfel | Äpfel | m | ringo
orange | oranges | food fruit | orange | oranges | f | Orange | Orangen | f | orenji
strawberry | strawberries | food fruit | fraise | fraises | f | Erdbeere | Erdbeeren | f | ichigo
tomato | tomatoes | food fruit | tomate | tomates | f | Tomate | Tomaten | f | tomato
potato | potatoes | food raw | pomme de terre | pommes de terre | f | Kartoffel | Kartoffeln | f | jagaimo
egg | eggs | food raw | œuf | œufs | m | Ei | Eier | n | tamago
cake | cakes | food sugary | gâteau | gâteaux | m | Kuchen | Kuchen | m | kēki
bread | - | food mass | pain | - | m | Brot | - | n | pan
cheese | - | food mass | fromage | - | m | Käse | - | m | chīzu
water | - | drink mass | eau | - | f | Wasser | - | n | mizu
milk | - | drink mass raw | lait | - | m | Milch | - | f | gyūnyū
coffee | - | drink mass hot my | café | - | m | Kaffee | - | m | kōhī
tea | - | drink mass hot my | thé | - | m | Tee | - | m | ocha
orange juice | - | drink mass sugary | jus/1 d'/- orange/0 | - | m | Orangensaft | - | m | orenji/0 jūsu/1
garden | gardens | place my in | jardin | jardins | m | Garten | Gärten | m | niwa
kitchen | kitchens | place my in room | cuisine | cuisines | f | Küche | Küchen | f | daidokoro
living room | living rooms | place my in room | salon | salons | m | Wohnzimmer | Wohnzimmer | n | ima
city | cities | place in | ville | villes | f | Stadt | Städte | f | machi
village | villages | place in | village | villages | m | Dorf | Dörfer | n | mura
school | schools | place my in at built | école | écoles | f | Schule | Schulen | f | gakkō
house | houses | place my in at built room | maison | maisons | f | Haus | Häuser | n | ie
park | parks | place in | parc | parcs | m | Park | Parks | m | kōen
forest | forests | place in | forêt | forêts | f | Wald | Wälder | m | mori
library | libraries | place in at built | bibliothèque | bibliothèques | f | Bibliothek | Bibliotheken | f | toshokan
museum | museums | place in at built | musée | musées | m | Museum | Museen | n | hakubutsukan
hotel | hotels | place in at built | hôtel | hôtels | m | Hotel | Hotels | n | hoteru
church | churches | place in at built | église | églises | f | Kirche | Kirchen | f | kyōkai
hospital | hospitals | place in at built | hôpital | hôpitaux | m | Krankenhaus | Krankenhäuser | n | byōin
castle | castles | place in at built | château | châteaux | m | Schloss | Schlösser | n | shiro
train station | train stations | place in at built | gare | gares | f | Bahnhof | Bahnhöfe | m | eki
swimming pool | swimming pools | place in pool | piscine | piscines | f | Schwimmbad | Schwimmbäder | n | pūru
"""  # noqa: E501

# English | what it can describe | rank in a row of adjectives | French m | f | m pl
# | f pl | pre or post, and the form before a vowel | German, and the stem with an
# ending | Japanese class and form
ADJECTIVES_TABLE = """
beautiful | animal place cloth grows | 0 | beau | belle | beaux | belles | pre bel | schön | i utsukushii
good | food drink text news | 0 | bon | bonne | bons | bonnes | pre | gut | i ii
expensive | machine cloth food drink | 0 | cher | chère | chers | chères | post | teuer teur | i takai
cheap | machine cloth food drink | 0 | bon marché | bon marché | bon marché | bon marché | post | billig | i yasui
delicious | food drink | 0 | délicieux | délicieuse | délicieux | délicieuses | post | köstlich | i oishii
famous | person built text news | 0 | célèbre | célèbre | célèbres | célèbres | post | berühmt | na yūmei
kind | person | 0 | gentil | gentille | gentils | gentilles | post | freundlich | na shinsetsu
happy | person | 0 | heureux | heureuse | heureux | heureuses | post | glücklich | na shiawase
busy | person | 0 | occupé | occupée | occupés | occupées | post | beschäftigt | i isogashii
clever | person animal | 0 | intelligent | intelligente | intelligents | intelligentes | post | klug | i kashikoi
strong | person animal | 0 | fort | forte | forts | fortes | post | stark | i tsuyoi
dangerous | animal vehicle | 0 | dangereux | dangereuse | dangereux | dangereuses | post | gefährlich | na kiken
quiet | animal place | 0 | calme | calme | calmes | calmes | post | ruhig | na shizuka
big | animal thing food place | 1 | grand | grande | grands | grandes | pre | groß | i ōkii
small | animal thing food place | 1 | petit | petite | petits | petites | pre | klein | i chiisai
heavy | heavy | 2 | lourd | lourde | lourds | lourdes | post | schwer | i omoi
round | round | 2 | rond | ronde | ronds | rondes | post | rund | i marui
fast | animal vehicle | 2 | rapide | rapide | rapides | rapides | post | schnell | i hayai
fresh | fruit raw | 2 | frais | fraîche | frais | fraîches | post | frisch | na shinsen
sweet | fruit sugary | 2 | sucré | sucrée | sucrés | sucrées | post | süß | i amai
hot | hot | 2 | chaud | chaude | chauds | chaudes | post | heiß | i atsui
cold | drink | 2 | froid | froide | froids | froides | post | kalt | i tsumetai
dark | room | 2 | sombre | sombre | sombres | sombres | post | dunkel dunkl | i kurai
new | made place | 3 | nouveau | nouvelle | nouveaux | nouvelles | pre nouvel | neu | i atarashii
old | made place | 3 | vieux | vieille | vieux | vieilles | pre vieil | alt | i furui
young | grown animal | 3 | jeune | jeune | jeunes | jeunes | pre | jung | i wakai
red | machine cloth fruit light | 4 | rouge | rouge | rouges | rouges | post | rot | i akai
white | animal machine cloth | 4 | blanc | blanche | blancs | blanches | post | weiß | i shiroi
black | animal machine cloth | 4 | noir | noire | noirs | noires | post | schwarz | i kuroi
blue | vehicle cloth opens blue | 4 | bleu | bleue | bleus | bleues | post | blau | i aoi
"""  # noqa: E501

# English -s form | base | frame | subject | object | flags | French sg | pl
# | German sg | pl (`sieht +an`: a prefix that parts) | Japanese stem | plain | negative
# Frames: none, one object, two objects, that.
# Flags: at: can take a place. bare: the object may lack an article. dative: German
# object in the dative. auf: German prepositional object. no: Japanese object marker.
VERBS_TABLE = """
sleeps | sleep | none | person animal | | at | dort | dorment | schläft | schlafen | nemuri | nemuru | nemuranai
runs | run | none | person animal | | at | court | courent | rennt | rennen | hashiri | hashiru | hashiranai
plays | play | none | person animal | | at | joue | jouent | spielt | spielen | asobi | asobu | asobanai
sings | sing | none | person | | at | chante | chantent | singt | singen | utai | utau | utawanai
dances | dance | none | person | | at | danse | dansent | tanzt | tanzen | odori | odoru | odoranai
works | work | none | person | | at | travaille | travaillent | arbeitet | arbeiten | hataraki | hataraku | hatarakanai
laughs | laugh | none | person | | at | rit | rient | lacht | lachen | warai | warau | warawanai
cries | cry | none | person | | at | pleure | pleurent | weint | weinen | naki | naku | nakanai
swims | swim | none | person | | pool | nage | nagent | schwimmt | schwimmen | oyogi | oyogu | oyoganai
waits | wait | none | person | | at | attend | attendent | wartet | warten | machi | matsu | matanai
sees | see | one | person animal | person animal thing place | at bare | voit | voient | sieht | sehen | mi | miru | minai
finds | find | one | person animal | animal thing food | at bare | trouve | trouvent | findet | finden | mitsuke | mitsukeru | mitsukenai
looks for | look for | one | person animal | person animal thing food | at bare | cherche | cherchent | sucht | suchen | sagashi | sagasu | sagasanai
looks at | look at | one | person animal | animal thing place | | regarde | regardent | sieht/0 +an/1 | sehen/0 +an/1 | nagame | nagameru | nagamenai
waits for | wait for | one | person animal | person animal | | attend | attendent | wartet/0 auf/1 | warten/0 auf/1 | machi | matsu | matanai
loves | love | one | person | person animal | state | aime | aiment | liebt | lieben | aishite i | aishite iru | aishite inai
helps | help | one | person | person animal | dative | aide | aident | hilft | helfen | tasuke | tasukeru | tasukenai
chases | chase | one | hunter | prey | bare | poursuit | poursuivent | jagt | jagen | oikake | oikakeru | oikakenai
eats | eat | one | person animal | food | at bare | mange | mangent | isst | essen | tabe | taberu | tabenai
drinks | drink | one | person animal | drink | at bare | boit | boivent | trinkt | trinken | nomi | nomu | nomanai
buys | buy | one | person | thing food drink | bare | achète | achètent | kauft | kaufen | kai | kau | kawanai
sells | sell | one | person | thing food drink | bare | vend | vendent | verkauft | verkaufen | uri | uru | uranai
reads | read | one | person | text news | at bare | lit | lisent | liest | lesen | yomi | yomu | yomanai
writes | write | one | person | text | at bare | écrit | écrivent | schreibt | schreiben | kaki | kaku | kakanai
draws | draw | one | person | person animal thing place | bare | dessine | dessinent | zeichnet | zeichnen | egaki | egaku | egakanai
washes | wash | one | person | cloth vehicle fruit | bare | lave | lavent | wäscht | waschen | arai | arau | arawanai
opens | open | one | person | opens | | ouvre | ouvrent | öffnet | öffnen | ake | akeru | akenai
carries | carry | one | person | heavy light | bare | porte | portent | trägt | tragen | hakobi | hakobu | hakobanai
repairs | repair | one | person | machine | bare | répare | réparent | repariert | reparieren | shūri shi | shūri suru | shūri shinai
cleans | clean | one | person | room | | nettoie | nettoient | putzt | putzen | sōji shi | sōji suru | sōji shinai
builds | build | one | person | built | bare | construit | construisent | baut | bauen | tate | tateru | tatenai
visits | visit | one | person | sight | bare | visite | visitent | besucht | besuchen | otozure | otozureru | otozurenai
gives | give | two | person | light food | | donne | donnent | gibt | geben | age | ageru | agenai
shows | show | two | person | animal thing | | montre | montrent | zeigt | zeigen | mise | miseru | misenai
sends | send | two | person | light | | envoie | envoient | schickt | schicken | okuri | okuru | okuranai
says | say | that | person | | state to | dit | disent | sagt | sagen | itte i | itte iru | itte inai
thinks | think | that | person | | state to | pense | pensent | denkt | denken | omotte i | omotte iru | omotte inai
believes | believe | that | person | | state to | croit | croient | glaubt | glauben | shinjite i | shinjite iru | shinjite inai
knows | know | that | person | | state koto | sait | savent | weiß | wissen | shitte i | shitte iru | shiranai
"""  # noqa: E501

# English | kind | French | German | Japanese
ADVERBS_TABLE = """
often | often | souvent | oft | shibashiba
always | often | toujours | immer | itsumo
today | time | aujourd'hui | heute | kyō
every day | time | tous/0 les/0 jours/1 | jeden/0 Tag/1 | mainichi
"""

# English | needs | French | German | Japanese, after the noun
PREPOSITIONS_TABLE = """
in | in | dans | in | de
behind | at | derrière | hinter | no ushiro de
in front of | at | devant | vor | no mae de
"""
