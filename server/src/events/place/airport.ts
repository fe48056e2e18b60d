// Airports and cities by their IATA code, as names of sites: places near which networks interconnect. The codes come
// from IATA's list, the time zones from the IANA database. A table and not a package: the packages for npm are
// unmaintained, or have no stated source.

export type Airport = { readonly name: string; readonly country: string; readonly timezone: string }

/** A line for each time zone: country, zone, and codes with their names. Codes of cities, such as LON, are included. */
const zones = `
AE Asia/Dubai DXB Dubai,AUH Abu Dhabi,FJR Fujairah
AM Asia/Yerevan EVN Yerevan
AO Africa/Luanda LAD Luanda
AR America/Argentina/Buenos_Aires EZE Buenos Aires,BUE Buenos Aires,AEP Buenos Aires
AT Europe/Vienna VIE Vienna,GRZ Graz,LNZ Linz,SZG Salzburg,INN Innsbruck
AU Australia/Sydney SYD Sydney,CBR Canberra
AU Australia/Melbourne MEL Melbourne
AU Australia/Brisbane BNE Brisbane
AU Australia/Perth PER Perth
AU Australia/Adelaide ADL Adelaide
AU Australia/Hobart HBA Hobart
AU Australia/Darwin DRW Darwin
AZ Asia/Baku GYD Baku,BAK Baku
BD Asia/Dhaka DAC Dhaka,CGP Chittagong
BE Europe/Brussels BRU Brussels,ANR Antwerp
BG Europe/Sofia SOF Sofia,VAR Varna
BH Asia/Bahrain BAH Bahrain
BO America/La_Paz LPB La Paz
BR America/Sao_Paulo GRU São Paulo,SAO São Paulo,CGH São Paulo,VCP Campinas,GIG Rio de Janeiro,RIO Rio de Janeiro,BSB Brasília,CNF Belo Horizonte,CWB Curitiba,FLN Florianópolis,POA Porto Alegre,JOI Joinville,GYN Goiânia
BR America/Fortaleza FOR Fortaleza
BR America/Bahia SSA Salvador
BR America/Recife REC Recife
BR America/Manaus MAO Manaus
BT Asia/Thimphu PBH Thimphu
BW Africa/Gaborone GBE Gaborone
BY Europe/Minsk MSQ Minsk
CA America/Toronto YYZ Toronto,YTO Toronto,YUL Montreal,YMQ Montreal,YOW Ottawa,YQB Quebec
CA America/Vancouver YVR Vancouver
CA America/Edmonton YYC Calgary,YEG Edmonton
CA America/Winnipeg YWG Winnipeg
CA America/Regina YXE Saskatoon
CA America/Halifax YHZ Halifax
CD Africa/Kinshasa FIH Kinshasa
CH Europe/Zurich ZRH Zurich,GVA Geneva,BSL Basel,BRN Bern
CI Africa/Abidjan ABJ Abidjan
CL America/Santiago SCL Santiago
CN Asia/Shanghai PEK Beijing,BJS Beijing,PKX Beijing,PVG Shanghai,SHA Shanghai,CAN Guangzhou,SZX Shenzhen,CTU Chengdu,CKG Chongqing,XIY Xi'an,WUH Wuhan,HGH Hangzhou,TAO Qingdao,NKG Nanjing,TSN Tianjin
CO America/Bogota BOG Bogotá,MDE Medellín,BAQ Barranquilla,CLO Cali
CR America/Costa_Rica SJO San José
CY Asia/Nicosia LCA Larnaca,NIC Nicosia
CZ Europe/Prague PRG Prague,BRQ Brno
DE Europe/Berlin FRA Frankfurt,BER Berlin,TXL Berlin,SXF Berlin,MUC Munich,DUS Düsseldorf,HAM Hamburg,STR Stuttgart,CGN Cologne,NUE Nuremberg,LEJ Leipzig,HAJ Hanover,DRS Dresden,BRE Bremen,DTM Dortmund,FMO Münster
DJ Africa/Djibouti JIB Djibouti
DK Europe/Copenhagen CPH Copenhagen,AAR Aarhus,BLL Billund
DO America/Santo_Domingo SDQ Santo Domingo
DZ Africa/Algiers ALG Algiers
EC America/Guayaquil UIO Quito,GYE Guayaquil
EE Europe/Tallinn TLL Tallinn
EG Africa/Cairo CAI Cairo
ES Europe/Madrid MAD Madrid,BCN Barcelona,VLC Valencia,BIO Bilbao,AGP Málaga,SVQ Seville
ES Atlantic/Canary LPA Las Palmas,TFN Tenerife
ET Africa/Addis_Ababa ADD Addis Ababa
FI Europe/Helsinki HEL Helsinki,TMP Tampere,OUL Oulu
FJ Pacific/Fiji SUV Suva,NAN Nadi
FR Europe/Paris CDG Paris,PAR Paris,ORY Paris,MRS Marseille,LYS Lyon,TLS Toulouse,NCE Nice,BOD Bordeaux,LIL Lille,NTE Nantes,SXB Strasbourg,RNS Rennes
GB Europe/London LHR London,LON London,LGW London,LCY London,STN London,LTN London,MAN Manchester,EDI Edinburgh,GLA Glasgow,BHX Birmingham,LBA Leeds,BRS Bristol,CWL Cardiff,NCL Newcastle,BFS Belfast,LPL Liverpool,SOU Southampton
GE Asia/Tbilisi TBS Tbilisi
GH Africa/Accra ACC Accra
GI Europe/Gibraltar GIB Gibraltar
GR Europe/Athens ATH Athens,SKG Thessaloniki,HER Heraklion
GT America/Guatemala GUA Guatemala City
GU Pacific/Guam GUM Guam
HK Asia/Hong_Kong HKG Hong Kong
HR Europe/Zagreb ZAG Zagreb
HU Europe/Budapest BUD Budapest
ID Asia/Jakarta CGK Jakarta,JKT Jakarta,BDO Bandung
ID Asia/Makassar DPS Denpasar
IE Europe/Dublin DUB Dublin,ORK Cork
IL Asia/Jerusalem TLV Tel Aviv,HFA Haifa
IN Asia/Kolkata BOM Mumbai,DEL Delhi,MAA Chennai,BLR Bengaluru,HYD Hyderabad,CCU Kolkata,PNQ Pune,AMD Ahmedabad,COK Kochi
IQ Asia/Baghdad BGW Baghdad,BSR Basra,EBL Erbil
IS Atlantic/Reykjavik KEF Reykjavík,REK Reykjavík
IT Europe/Rome FCO Rome,ROM Rome,MXP Milan,MIL Milan,LIN Milan,TRN Turin,BLQ Bologna,VCE Venice,NAP Naples,PMO Palermo,BRI Bari,GOA Genoa
JM America/Jamaica KIN Kingston
JO Asia/Amman AMM Amman
JP Asia/Tokyo NRT Tokyo,HND Tokyo,TYO Tokyo,KIX Osaka,OSA Osaka,ITM Osaka,FUK Fukuoka,CTS Sapporo,NGO Nagoya,OKA Naha
KE Africa/Nairobi NBO Nairobi,MBA Mombasa
KG Asia/Bishkek FRU Bishkek
KH Asia/Phnom_Penh PNH Phnom Penh
KR Asia/Seoul ICN Seoul,SEL Seoul,GMP Seoul,PUS Busan
KW Asia/Kuwait KWI Kuwait
KZ Asia/Almaty ALA Almaty,NQZ Astana
LA Asia/Vientiane VTE Vientiane
LB Asia/Beirut BEY Beirut
LK Asia/Colombo CMB Colombo
LT Europe/Vilnius VNO Vilnius,KUN Kaunas
LU Europe/Luxembourg LUX Luxembourg
LV Europe/Riga RIX Riga
MA Africa/Casablanca CMN Casablanca,RBA Rabat
MD Europe/Chisinau RMO Chișinău,KIV Chișinău
ME Europe/Podgorica TGD Podgorica
MG Indian/Antananarivo TNR Antananarivo
MK Europe/Skopje SKP Skopje
MM Asia/Yangon RGN Yangon
MN Asia/Ulaanbaatar UBN Ulaanbaatar,ULN Ulaanbaatar
MO Asia/Macau MFM Macau
MT Europe/Malta MLA Malta
MU Indian/Mauritius MRU Mauritius
MV Indian/Maldives MLE Malé
MX America/Mexico_City MEX Mexico City,QRO Querétaro,GDL Guadalajara
MX America/Monterrey MTY Monterrey
MX America/Cancun CUN Cancún
MY Asia/Kuala_Lumpur KUL Kuala Lumpur,JHB Johor Bahru,PEN Penang
MZ Africa/Maputo MPM Maputo
NA Africa/Windhoek WDH Windhoek
NC Pacific/Noumea NOU Nouméa
NG Africa/Lagos LOS Lagos,ABV Abuja
NL Europe/Amsterdam AMS Amsterdam,RTM Rotterdam,EIN Eindhoven,GRQ Groningen
NO Europe/Oslo OSL Oslo,BGO Bergen,TRD Trondheim,SVG Stavanger
NP Asia/Kathmandu KTM Kathmandu
NZ Pacific/Auckland AKL Auckland,WLG Wellington,CHC Christchurch
OM Asia/Muscat MCT Muscat
PA America/Panama PTY Panama City
PE America/Lima LIM Lima
PF Pacific/Tahiti PPT Papeete
PG Pacific/Port_Moresby POM Port Moresby
PH Asia/Manila MNL Manila,CEB Cebu
PK Asia/Karachi KHI Karachi,LHE Lahore,ISB Islamabad
PL Europe/Warsaw WAW Warsaw,KRK Kraków,POZ Poznań,WRO Wrocław,KTW Katowice,GDN Gdańsk
PR America/Puerto_Rico SJU San Juan
PT Europe/Lisbon LIS Lisbon,OPO Porto
PY America/Asuncion ASU Asunción
QA Asia/Qatar DOH Doha
RE Indian/Reunion RUN Saint-Denis
RO Europe/Bucharest OTP Bucharest,BUH Bucharest,CLJ Cluj-Napoca,TSR Timișoara,IAS Iași
RS Europe/Belgrade BEG Belgrade
RU Europe/Moscow SVO Moscow,MOW Moscow,DME Moscow,LED Saint Petersburg
RU Asia/Yekaterinburg SVX Yekaterinburg
RU Asia/Novosibirsk OVB Novosibirsk
RW Africa/Kigali KGL Kigali
SA Asia/Riyadh RUH Riyadh,JED Jeddah,DMM Dammam
SE Europe/Stockholm ARN Stockholm,STO Stockholm,BMA Stockholm,GOT Gothenburg,MMX Malmö,LLA Luleå
SG Asia/Singapore SIN Singapore
SI Europe/Ljubljana LJU Ljubljana
SK Europe/Bratislava BTS Bratislava
SN Africa/Dakar DSS Dakar,DKR Dakar
TH Asia/Bangkok BKK Bangkok,DMK Bangkok
TN Africa/Tunis TUN Tunis
TR Europe/Istanbul IST Istanbul,SAW Istanbul,ESB Ankara,ADB Izmir
TW Asia/Taipei TPE Taipei,TSA Taipei,KHH Kaohsiung
TZ Africa/Dar_es_Salaam DAR Dar es Salaam
UA Europe/Kyiv KBP Kyiv,IEV Kyiv,LWO Lviv,ODS Odesa
UG Africa/Kampala EBB Kampala
US America/New_York JFK New York,NYC New York,LGA New York,EWR Newark,IAD Ashburn,DCA Washington,WAS Washington,BWI Baltimore,BOS Boston,ATL Atlanta,MIA Miami,FLL Fort Lauderdale,TPA Tampa,MCO Orlando,JAX Jacksonville,CLT Charlotte,RDU Raleigh,RIC Richmond,PHL Philadelphia,PIT Pittsburgh,CLE Cleveland,CMH Columbus,CVG Cincinnati,BUF Buffalo,ORF Norfolk
US America/Detroit DTW Detroit
US America/Indiana/Indianapolis IND Indianapolis
US America/Chicago ORD Chicago,CHI Chicago,MDW Chicago,DFW Dallas,DAL Dallas,IAH Houston,HOU Houston,AUS Austin,SAT San Antonio,MSP Minneapolis,MCI Kansas City,STL St. Louis,MEM Memphis,BNA Nashville,MSY New Orleans,OMA Omaha,OKC Oklahoma City,TUL Tulsa,MFE McAllen,MKE Milwaukee,DSM Des Moines
US America/Denver DEN Denver,SLC Salt Lake City,ABQ Albuquerque
US America/Boise BOI Boise
US America/Phoenix PHX Phoenix
US America/Los_Angeles LAX Los Angeles,SFO San Francisco,SJC San Jose,OAK Oakland,SEA Seattle,PDX Portland,LAS Las Vegas,SAN San Diego,SMF Sacramento,RNO Reno
US America/Anchorage ANC Anchorage
US Pacific/Honolulu HNL Honolulu
UY America/Montevideo MVD Montevideo
UZ Asia/Tashkent TAS Tashkent
VE America/Caracas CCS Caracas
VN Asia/Ho_Chi_Minh SGN Ho Chi Minh City,HAN Hanoi,DAD Da Nang
ZA Africa/Johannesburg JNB Johannesburg,CPT Cape Town,DUR Durban
ZM Africa/Lusaka LUN Lusaka
ZW Africa/Harare HRE Harare
`

export const airports: ReadonlyMap<string, Airport> = new Map(
  zones
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [, country, timezone, places] = /^(\S+) (\S+) (.*)$/.exec(line)!
      return places!
        .split(',')
        .map((place): [string, Airport] => [
          place.slice(0, 3),
          { name: place.slice(4), country: country!, timezone: timezone! },
        ])
    }),
)
