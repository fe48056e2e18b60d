// For tests: record data that is valid, with its canonical text where that differs, and data that is not. Origin is `example.` Every type that users may
// write, and every type that the signer writes, has lines in both.

/** Type and data; after ` => ` the canonical text. */
export const validData = String.raw`
A 192.0.2.1
A 0.0.0.0
A 255.255.255.255
A \# 4 c0000201 => 192.0.2.1
A \# 4 c0 00 02 01 => 192.0.2.1
AAAA 2001:db8::1
AAAA 2001:DB8:0:0:0:0:0:1 => 2001:db8::1
AAAA ::ffff:192.0.2.1 => ::ffff:c000:201
AAAA ::
AAAA 1:2:3:4:5:6:7:8
AFSDB 1 afs.example.com.
AFSDB 65535 AFS => 65535 afs.example.
ALIAS lb.example.com.
ALIAS LB => lb.example.
ALIAS \# 6 04 48 6f 73 74 00 => host.
APL 1:192.168.32.0/21 !1:192.168.38.0/28
APL 2:2001:db8::/32 !2:2001:db8:1::/48
APL 1:0.0.0.0/0 2:::/0
APL 1:224.0.0.0/4
CAA 0 issue "ca.example.net"
CAA 128 issuewild ";"
CAA 0 iodef "mailto:security@example.com"
CAA 0 issue ""
CAA 255 tbs "Unknown"
CAA 0 issue ca.example.net => 0 issue "ca.example.net"
CAA 0 accounturi1 "a\"b\\c"
CDNSKEY 257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==
CDNSKEY 0 3 0 AA==
CDS 0 0 0 00
CDS 60485 13 2 d4b7d520e7bb5f0f67674a0cceb1e3e0614b93c4f9e99b8383f6a1e4469da50a
CERT 1 12345 8 AAECAw==
CERT PKIX 12345 RSASHA256 AAEC Aw== => 1 12345 8 AAECAw==
CERT 65535 0 0 MxFcby9k/yvedMfQgKzhH5er0Mu/vILz45IkskceFGgiWCn/GxHhai6VAuHAoNUz4YoU1tVfSCSqQYn6//11U6Nld80jEeC8aTrO+KKmCaY=
CNAME www.example.com.
CNAME @ => example.
CNAME WWW => www.example.
CNAME a\.b.example.com.
CNAME a\046b.example.com. => a\.b.example.com.
CNAME \000\001\255.example.com.
CNAME *.example.com.
CNAME .
CNAME aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example.com.
CNAME _443._tcp.www.example.com.
CNAME a\@.\$.\;.\(\).
CSYNC 66 3 A NS AAAA => 66 3 A NS AAAA
CSYNC 4294967295 0
DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=
DHCID AAIBY2/AuCccgoJbsaxc Qc9TUapptP69lOjxfNuVAA2kjEA= => AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=
DNAME example.com.
DNSKEY 256 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==
DNSKEY 257 3 ED25519 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4= => 257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=
DS 60485 5 1 2bb183af5f22588179a53b0a98631fad1a292118
DS 60485 RSASHA1 1 2BB183AF5F22588179A53B0A 98631FAD1A292118 => 60485 5 1 2bb183af5f22588179a53b0a98631fad1a292118
DS 60485 13 2 d4b7d520e7bb5f0f67674a0cceb1e3e0614b93c4f9e99b8383f6a1e4469da50a
DS 10771 12 3 37075bf1f2b1ae9e2b80b2b6e71ec40e63ee5d6b4ab5cc5e59bfbbd5e8c1d4cd
DS 10771 13 4 72d7b62976ce06438e9c0bf319013cf801f09ecc84b8d7e9495f27e305c6a9b0563a9b5f4d288405c3008a946df983d6
DS 1 253 200 00ff
DS 1 12 3 00
EUI48 00-00-5e-00-53-2a
EUI48 00-00-5E-00-53-2A => 00-00-5e-00-53-2a
EUI64 00-00-5e-ef-10-00-00-2a
HINFO "Intel" "Linux"
HINFO PDP-11 UNIX => "PDP-11" "UNIX"
HINFO "" ""
HIP 2 200100107b1a74df365639cc39f1d578 AwEAAbdxyhNuSutc5EMzxTs9LBPCIkOFH8cIvM4p9+LrV4e19WzK00+CI6zBCQTdtWsuxKbWIy87UOoJTwkUs7lBu+Upr1gsNrut79ryra+bSRGQb1slImA8YVJyuIDsj7kwzG7jnERNqnWxZ48AWkskmdHaVDP4BcelrTI3rMXdXF5D
HIP 2 200100107B1A74DF365639CC39F1D578 AwEA rvs.example.com. rvs2 => 2 200100107b1a74df365639cc39f1d578 AwEA rvs.example.com. rvs2.example.
HTTPS 1 .
HTTPS 0 svc.example.net.
HTTPS 1 . alpn=h2,h3 => 1 . alpn="h2,h3"
HTTPS 1 . ipv6hint=2001:db8::1 ipv4hint=192.0.2.1 => 1 . ipv4hint="192.0.2.1" ipv6hint="2001:db8::1"
IPSECKEY 10 1 2 192.0.2.38 AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==
IPSECKEY 10 0 2 . AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==
IPSECKEY 10 2 2 2001:db8::2000:1 AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==
IPSECKEY 10 3 2 mygateway.example.com. AQNRU3mG7TVTO2BkR47usntb102uFJtugbo6BSGvgqt4AQ==
KX 10 kx.example.com.
KX 0 KX => 0 kx.example.
L32 10 10.1.2.0
L64 10 2001:0db8:1140:1000
LOC 52 22 23.000 N 4 53 32.000 E -2.00m 1.00m 10000.00m 10.00m
LOC 42 21 54 N 71 06 18 W -24m 30m => 42 21 54.000 N 71 6 18.000 W -24.00m 30.00m 10000.00m 10.00m
LOC 90 N 180 W 0m => 90 0 0.000 N 180 0 0.000 W 0.00m 1.00m 10000.00m 10.00m
LOC 60 9 0.5 N 24 39 0.25 E 10 20 2000m 20m => 60 9 0.500 N 24 39 0.250 E 10.00m 20.00m 2000.00m 20.00m
LOC 0 0 0.001 S 0 0 0.999 E -100000.00m 0.00m 0.01m 90000000.00m
LOC 1 2 59.999 S 179 59 59.999 W 42849672.95m 0.99m 12.34m 1.50m => 1 2 59.999 S 179 59 59.999 W 42849672.95m 0.90m 10.00m 1.00m
LP 10 l64-subnet1.example.com.
MINFO r.example.com. e.example.com.
MX 10 mail.example.com.
MX 0 .
MX 010 Mail => 10 mail.example.
NAPTR 100 50 "s" "z3950+I2L+I2C" "" _z3950._tcp.gatech.edu.
NAPTR 65535 0 "u" "E2U+sip" "!^.*$!sip:info@example.com!" .
NAPTR 0 0 "u" "E2U+sip" "!^(\\+49)([0-9]{3,})$!sip:\\2@\\1.example!i" .
NAPTR 0 0 "u" "E2U+sip" "/a\\/b|[]a-z]+[[:digit:]-]?/x/" .
NAPTR 0 0 "u" "E2U+sip" "!(a(b))\\2{2}!\\\\\\1!" .
NAPTR 0 0 "" "" "" . => 0 0 "" "" "" .
NAPTR 100 100 S SIP+D2U "" _sip._udp => 100 100 "S" "SIP+D2U" "" _sip._udp.example.
NID 10 0014:4fff:ff20:ee64
NS ns1.example.com.
NS NS1 => ns1.example.
NSEC host.example.com. A MX RRSIG NSEC TYPE1234
NSEC host.example.com. TYPE1234 NSEC RRSIG MX A TYPE1 => host.example.com. A MX RRSIG NSEC TYPE1234
NSEC . NS TYPE65535
NSEC3 1 1 12 aabbccdd 2t7b4g4vsa5smi47k61mv5bv1a22bojr A RRSIG
NSEC3 1 0 0 - 2T7B4G4VSA5SMI47K61MV5BV1A22BOJR => 1 0 0 - 2t7b4g4vsa5smi47k61mv5bv1a22bojr
NSEC3PARAM 1 0 12 aabbccdd
NSEC3PARAM 1 0 0 -
OPENPGPKEY AQID
OPENPGPKEY AQ ID => AQID
PTR host.example.com.
RP mbox.example.com. text.example.com.
RP . .
RRSIG A 5 3 86400 20030322173103 20030220173103 2642 example.com. oJB1W6WNGv+ldvQ3WDG0MQkg5IEhjRip8WTrPYGv07h108dUKGMeDPKijVCHX3DDKdfb+v6oB9wfuh3DTJXUAfI/M0zmO/zz8bW0Rznl8O3tGNazPwQKkRN20XPXV6nwwfoXmJQbsLNrLfkGJ5D6fwFm8nN+6pBzeDQfsS3Ap3o=
RRSIG TYPE65280 13 0 0 1 3000000000 65535 . AAAA => TYPE65280 13 0 0 19700101000001 20650124052000 65535 . AAAA
RRSIG A 13 0 0 21060207062817 20261122000000 1 . AAAA => A 13 0 0 19700101000001 20261122000000 1 . AAAA
RT 10 relay.prime.com.
SMIMEA 3 1 1 d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971
SOA ns.example.com. hostmaster.example.com. 2026112201 7200 3600 1209600 3600
SOA NS Host\.master 1 2h 1H 2w 1h30m => ns.example. host\.master.example. 1 7200 3600 1209600 5400
SOA . . 4294967295 4294967295 0 0 0
SPF "v=spf1 -all"
SRV 0 5 5060 sip.example.com.
SRV 65535 65535 65535 .
SSHFP 1 1 123456789abcdef67890123456789abcdef67890
SSHFP 4 2 a87f1b687ac0e57d2a081a2f282672334d90ed316d2b818ca9580ea384d92401
SSHFP 250 250 00
SVCB 0 foo.example.com.
SVCB 1 .
SVCB 16 foo.example.com. port=53 => 16 foo.example.com. port="53"
SVCB 1 foo.example.com. key667=hello => 1 foo.example.com. key667="hello"
SVCB 1 foo.example.com. key667="hello\210qoo"
SVCB 1 foo.example.com. ipv6hint="2001:db8::1,2001:db8::53:1"
SVCB 16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1 => 16 foo.example.org. mandatory="alpn,ipv4hint" alpn="h2,h3-19" ipv4hint="192.0.2.1"
SVCB 16 foo.example.org. alpn="f\\\\oo\\,bar,h2"
SVCB 16 foo.example.org. alpn=f\\\092oo\092,bar,h2 => 16 foo.example.org. alpn="f\\\\oo\\,bar,h2"
SVCB 1 foo.example.com. alpn="h2" no-default-alpn
SVCB 1 foo.example.com. ech="AEj+DQBEAQAgACAdd+scUi0IYFsXnUIU7ko2Nd9+F8M26pAGZVpz/KrWPgAEAAEAAWQVZWNoLXNpdGVzLmV4YW1wbGUubmV0AAA="
SVCB 1 foo.example.com. key65280
SVCB 1 foo.example.com. dohpath=/dns-query{?dns} => 1 foo.example.com. dohpath="/dns-query{?dns}"
SVCB 1 foo.example.com. key8
SVCB 1 foo.example.com. key9="\000\029\000\023" alpn=h2 => 1 foo.example.com. alpn="h2" key9="\000\029\000\023"
SVCB 1 Foo.Example.com. => 1 Foo.Example.com.
TLSA 3 1 1 d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971
TLSA 0 0 2 92003BA34942DC74152E2F2C408D29ECA5A520E7F2E06BB944F4DCA346BAF63C1B177615D466F6C4B71C216A50292BD58C9EBDD2F74E38FE51FFD48C43326CBC => 0 0 2 92003ba34942dc74152e2f2c408d29eca5a520e7f2e06bb944f4dca346baf63c1b177615d466f6c4b71c216a50292bd58c9ebdd2f74e38fe51ffd48c43326cbc
TLSA 255 255 0 00
TXT "v=spf1 mx ~all"
TXT a b "c d" => "a" "b" "c d"
TXT ""
TXT "a\"b" "back\\slash" "\000\255" => "a\"b" "back\\slash" "\000\255"
TXT "\065\a\;" => "Aa;"
TXT a\;b\032c => "a;b c"
TXT k=v => "k=v"
TXT "semi;colon (parens)"
NSAP \# 1 47
ATMA \# 3 013132
SINK \# 3 000102
RKEY \# 5 0000030800
HHIT \# 1 00
BRID \# 1 00
DOA \# 11 000000000000000001 0100 => \# 11 0000000000000000010100
TYPE65280 \# 0
TYPE65280 \# 4 0A000001 => \# 4 0a000001
TYPE1 192.0.2.1 => 192.0.2.1
URI 10 1 "ftp://ftp1.example.com/public"
URI 65535 65535 "mailto:a\"b@example.com"
X25 "311061700956"
ZONEMD 2018031500 1 1 c68090d90a7aed716bc459f9340e3d7c1370d4d24b7e2fc3a1ddc0b9a87153b9a9713b3c9ae5cc27777f98b8e730044c
ZONEMD 1 240 240 e2d523f654b9422a96c5a8f44607bbee
AMTRELAY 10 0 1 203.0.113.15
AMTRELAY 10 0 2 2001:db8::15
AMTRELAY 128 1 3 amtrelays.example.com.
AMTRELAY 10 0 0 .
RESINFO "qnamemin" "exterr=15-17" "infourl=https://resolver.example.com/guide"
DSYNC CDS NOTIFY 5359 cds-scanner.example.net. => CDS 1 5359 cds-scanner.example.net.
EID 12 89 AB => 1289ab
GPOS "-22.6882" "116.8652" "250.0"
NSAP-PTR foo.example.com.
NIMLOC 1289ab
NINFO "a"
ISDN "150862028003217" "004"
ISDN "150862028003217"
PX 10 net2.it. prmd-net2.admd-p400.c-it.
TALINK h0.example.com. h2.example.com.
TA 30795 1 1 310d27f4d82c1fc2400704ea9939fe6e1ceaa3b9
DLV 30795 1 1 310d27f4d82c1fc2400704ea9939fe6e1ceaa3b9
AVC "app-name:WOLFGANG|app-class:OAM"
WALLET "BTC" "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
`
  .trim()
  .split('\n')

/** Type and data. */
export const invalidData = String.raw`
A
A 192.0.2
A 192.0.2.256
A 192.0.2.01
A 192.0.2.1.5
A 192.0.2.1 192.0.2.2
A 0xc0.0.2.1
A 1
A 2001:db8::1
A \# 3 c00002
A \# 5 c000020101
A \# 4 c00002
A \# 4 c000020g
A \# 0
AAAA 2001:db8::1::2
AAAA 2001:db8:0:0:0:0:0:0:1
AAAA 2001:db8:12345::1
AAAA 192.0.2.1
AAAA 2001:db8::1%eth0
AAAA 2001:db8::/32
AAAA :::
AFSDB 1
AFSDB 65536 a.example.
APL 1:192.0.2.1
APL 1:192.0.2.0/33
APL 2:2001:db8::/129
APL 3:192.0.2.0/24
APL 1:2001:db8::/32
APL !192.0.2.0/24
APL \# 8 00011804c0000200
APL \# 5 0001180301
CAA 256 issue "ca"
CAA 0 issue
CAA 0
CAA -1 issue "ca"
CAA 0 is-sue "ca"
CAA 0 issue "ca" "extra"
CDS 0 0 0
CERT 1 0
CERT 65536 0 0 AAAA
CERT FOO 0 0 AAAA
CERT 1 0 0 A===
CNAME
ALIAS a.example. b.example.
ALIAS a..b.
CNAME a..b.
CNAME .a.
CNAME a.example. b.example.
CNAME aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example.
CNAME \256.example.
CNAME \25.example.
CNAME \1
CNAME aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaaa.
CSYNC 66
CSYNC 66 3 FOO
CSYNC 4294967296 3 A
CSYNC 66 3 A NULL
CSYNC 66 3 SIG
CSYNC 66 3 OPT A
DHCID
DHCID A
DHCID AB==
DHCID AAA*
DNAME
DNSKEY 256 3 13
DNSKEY 65536 3 13 AAAA
DNSKEY 256 3 FOO AAAA
DNSKEY 256 3 13 AAA
DNSKEY 256 256 13 AAAA
DS 60485 5 1 2bb183af5f22588179a53b0a98631fad1a2921
DS 60485 5 2 2bb183af5f22588179a53b0a98631fad1a292118
DS 65536 5 1 2bb183af5f22588179a53b0a98631fad1a292118
DS 1 5 1 2bb183af5f22588179a53b0a98631fad1a29211g
DS 1 5 1
DS 1 5 1 2bb183af5f22588179a53b0a98631fad1a29211
EUI48 00-00-5e-00-53
EUI48 00-00-5e-00-53-2a-00
EUI48 00:00:5e:00:53:2a
EUI48 00-00-5e-00-53-2g
EUI48 0-0-5e-0-53-2a
EUI64 00-00-5e-ef-10-00-00
HINFO "Intel"
HINFO
HINFO a b c
HIP 2 2001 
HIP 256 2001 AwEA
HIP 2 200 AwEA
HTTPS
HTTPS 1
HTTPS 65536 .
HTTPS 1 . port=65536
HTTPS 1 . port=
HTTPS 1 . port
HTTPS 1 . alpn
HTTPS 1 . alpn=""
HTTPS 1 . alpn=h2,,h3
HTTPS 1 . ipv4hint=192.0.2.256
HTTPS 1 . ipv6hint=192.0.2.1
HTTPS 1 . mandatory=port
HTTPS 1 . mandatory=mandatory
HTTPS 1 . mandatory=alpn,alpn alpn=h2
HTTPS 1 . port=53 port=54
HTTPS 1 . no-default-alpn
HTTPS 1 . no-default-alpn=h2 alpn=h2
HTTPS 1 . foo=bar
HTTPS 1 . ohttp=a
HTTPS 1 . tls-supported-groups=65536
HTTPS 1 . dohpath
HTTPS 1 . dohpath=/novariable
HTTPS 1 . dohpath=not-relative
HTTPS 1 . dohpath=not-relative{?dns}
HTTPS 1 . dohpath=/\255{?dns}
HTTPS 1 . key7=/novariable
HTTPS 1 . key65536=a
HTTPS 1 . ALPN=h2
HTTPS 1 . ech=A
HTTPS 1 . "alpn=h2"
IPSECKEY 10 1 2 foo. AAAA
IPSECKEY 10 0 2 foo. AAAA
IPSECKEY 10 4 2 . AAAA
IPSECKEY 256 0 2 . AAAA
IPSECKEY 10 3 2
KX 1
KX a b.
L32 10 10.1.2
L32 65536 10.1.2.0
L64 10 2001:0db8:1140
L64 10 2001:0db8:1140:1000:1
L64 10 2001::1000
LOC 91 N 0 E 0m
LOC 90 0 0.001 N 0 E 0m
LOC 0 N 181 E 0m
LOC 0 60 N 0 E 0m
LOC 0 0 60 N 0 E 0m
LOC 0 0 0.0001 N 0 E 0m
LOC 0 N 0 N 0m
LOC 0 E 0 N 0m
LOC 0 N 0 E
LOC 0 N 0 E 42849672.96m
LOC 0 N 0 E -100000.01m
LOC 0 N 0 E 0m 90000000.01m
LOC 0 N 0 E 0m 1m 1m 1m 1m
LOC 0 N 0 E 0.001m
LP 10
MX 10
MX mail.example.com.
MX 65536 mail.example.com.
MX -1 mail.example.com.
MX 1.5 mail.example.com.
MX "10" mail.example.com.
MX 10 mail.example.com. extra
NAPTR 65536 0 "" "" "" .
NAPTR 0 0 "" "" ""
NAPTR 0 0 "" "" "" . .
NAPTR 0 0 "u" "" "!^.*$!sip:\\1@example.com!" .
NAPTR 0 0 "u" "" "!(a)!\\2!" .
NAPTR 0 0 "u" "" "!a!\\0!" .
NAPTR 0 0 "u" "" "!a!b" .
NAPTR 0 0 "u" "" "!a!b!c!" .
NAPTR 0 0 "u" "" "!a!b!x" .
NAPTR 0 0 "u" "" "!!b!" .
NAPTR 0 0 "u" "" "1a1b1" .
NAPTR 0 0 "u" "" "iaibi" .
NAPTR 0 0 "u" "" "!(a!b!" .
NAPTR 0 0 "u" "" "!a**!b!" .
NAPTR 0 0 "u" "" "!*a!b!" .
NAPTR 0 0 "u" "" "!^*!b!" .
NAPTR 0 0 "u" "" "!a{3,2}!b!" .
NAPTR 0 0 "u" "" "!a{256}!b!" .
NAPTR 0 0 "u" "" "![a!b!" .
NAPTR 0 0 "u" "" "![z-a]!b!" .
NAPTR 0 0 "u" "" "![a-z-]!b!" .
NAPTR 0 0 "u" "" "![[:word:]]!b!" .
NAPTR 0 0 "u" "" "!a|!b!" .
NAPTR 0 0 "u" "" "!\\1!b!" .
NAPTR 0 0 "u" "" "!a!b\000!" .
NID 10 0014:4fff:ff20
NID 10 0014:4fff:ff20:ee64z
NS
NS a b
NSEC
NSEC a.example. FOO
NSEC \# 2 0000
NSEC3 1 0 0 - ! A
NSEC3 256 0 0 - 2t7b4g4vsa5smi47k61mv5bv1a22bojr
NSEC3 1 0 65536 - 2t7b4g4vsa5smi47k61mv5bv1a22bojr
NSEC3 1 0 0 abc 2t7b4g4vsa5smi47k61mv5bv1a22bojr
NSEC3PARAM 1 0 12
NSEC3PARAM 1 0 12 abc
OPENPGPKEY
OPENPGPKEY A
PTR
RP a.example.
RRSIG A 5 3 86400 20030322173103 20030220173103 2642 example.com.
RRSIG FOO 5 3 86400 20030322173103 20030220173103 2642 example.com. AAAA
RRSIG A 5 3 86400 20031322173103 20030220173103 2642 example.com. AAAA
RRSIG A 5 3 1d 20030322173103 20030220173103 2642 example.com. AAAA
RRSIG A 5 256 86400 20030322173103 20030220173103 2642 example.com. AAAA
RT 10
SMIMEA 3 1
SOA ns.example.com. hostmaster.example.com. 1 2 3 4
SOA ns.example.com. hostmaster.example.com. 1 2 3 4 5 6
SOA ns.example.com. hostmaster.example.com. 4294967296 2 3 4 5
SOA ns.example.com. hostmaster.example.com. 1 2x 3 4 5
SOA ns.example.com. hostmaster.example.com. -1 2 3 4 5
SRV 0 5 5060
SRV 0 5 65536 sip.example.com.
SRV 0 5 http sip.example.com.
SSHFP 1 1 123456789abcdef67890123456789abcdef678
SSHFP 1 1
SSHFP 1 256 123456789abcdef67890123456789abcdef67890
SSHFP 1 1 123456789abcdef67890123456789abcdef6789z
TLSA 3 1 1
TLSA 3 1 256 00
TLSA 3 1 1 d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e97
TXT
TXT "\256"
TXT k="a b"
TXT a"b
TXT aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
NSAP \# 0
ATMA \# 0
ATMA \# 1 00
ATMA \# 3 010041
SINK \# 0
SINK \# 2 0001
RKEY \# 0
RKEY \# 5 0001030100
HHIT \# 0
BRID \# 0
DOA \# 0
DOA \# 10 00000000000000000101
TYPE65280 0a000001
TYPE65280 \# 4 0a0000
TYPE65280 \# 3 0a00000
TYPE65280 \# 65536 00
TYPE65280 \# -1
TYPE65280 \#
URI 10 1
URI 65536 1 "a"
X25 123
X25 abcd
ZONEMD 1 1 1 c68090d90a7aed716bc459f9340e3d7c
ZONEMD 1 1 240 c68090
AMTRELAY 10 2 1 203.0.113.15
AMTRELAY 10 0 1 foo.
AMTRELAY 10 0 4 foo.
RESINFO
WALLET
`
  .trim()
  .split('\n')
