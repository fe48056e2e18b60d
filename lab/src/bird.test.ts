import assert from 'node:assert/strict'
import { it } from 'node:test'
import { parseBirdChange } from './bird-log.ts'
import { parseBirdRoutes } from './bird-routes.ts'

it('reads every route of a table with its path, next hop and communities', () => {
  assert.deepEqual(parseBirdRoutes(shown), [
    {
      prefix: '198.51.100.0/24',
      asPath: [64500, 64496],
      nextHop: '127.0.1.1',
      communities: ['64500:100', '65535:666'],
      largeCommunities: ['4200000001:1:2', '64500:0:0'],
    },
    {
      prefix: '2001:db8:a::/48',
      asPath: [64500],
      nextHop: '2001:db8::1',
      communities: [],
      largeCommunities: [],
    },
    {
      prefix: '2001:db8:a::/48',
      asPath: [64501],
      nextHop: '2001:db8::2',
      communities: [],
      largeCommunities: [],
    },
  ])
  assert.deepEqual(parseBirdRoutes('BIRD 2.0.12 ready.\nAccess restricted\n'), [])
})

it('reads the change of a route and its time, and ignores other lines', () => {
  const line = (rest: string): string => `2026-11-21 01:16:16.805016 <TRACE> pharos.${rest}`
  const atMs = Date.parse('2026-11-21T01:16:16.805Z') + 0.016
  assert.deepEqual(parseBirdChange(line('ipv4 > added [best] 198.51.100.0/24 0L 2G unreachable')), {
    atMs,
    kind: 'announced',
    prefix: '198.51.100.0/24',
  })
  assert.deepEqual(parseBirdChange(line('ipv6 > removed [sole] 2001:db8:a::/48 0L 2G unreachable')), {
    atMs,
    kind: 'removed',
    prefix: '2001:db8:a::/48',
  })
  assert.equal(
    parseBirdChange(line('ipv6 > updated [best] 2001:db8:a::/48 0L 2G unreachable'))?.kind,
    'announced',
  )
  assert.equal(parseBirdChange(line('ipv4 > removed [replaced] 192.0.2.0/24 0L 2G unreachable')), undefined)
  assert.equal(parseBirdChange(line('ipv4 < rejected by protocol 192.0.2.0/24 0L 2G unreachable')), undefined)
  assert.equal(
    parseBirdChange('2026-11-21 01:16:13.7 <TRACE> pharos: Neighbor graceful restart done'),
    undefined,
  )
})

/** BIRD 2.0.12, `show route all protocol pharos`. */
const shown = `BIRD 2.0.12 ready.
Access restricted
Table master4:
198.51.100.0/24      unreachable [pharos 01:07:58.208 from 127.0.1.1] * (100) [AS64496?]
	Type: BGP univ
	BGP.origin: Incomplete
	BGP.as_path: 64500 64496
	BGP.next_hop: 127.0.1.1
	BGP.local_pref: 100
	BGP.community: (64500,100)
		(65535,666)
	BGP.large_community: (4200000001, 1, 2) (64500, 0, 0)

Table master6:
2001:db8:a::/48      unreachable [pharos 2026-11-21 01:07:58.219123 from 127.0.1.1] * (100) [AS64500i]
	Type: BGP univ
	BGP.origin: IGP
	BGP.as_path: 64500
	BGP.next_hop: 2001:db8::1
	BGP.local_pref: 100
                     unreachable [other 01:07:58.220 from 127.0.1.3] (100) [AS64501i]
	Type: BGP univ
	BGP.origin: IGP
	BGP.as_path: 64501
	BGP.next_hop: 2001:db8::2 fe80::1
	BGP.local_pref: 100
`
