// The example of the search: an address, what covers it, and an attack on it.
import { example } from '../example.ts'
import { searchRoute } from '../search.ts'
import { eventId, web } from './world.ts'

export const searchExamples = [
  example(searchRoute, {
    query: { q: '203.0.113.77' },
    response: {
      results: [
        {
          kind: 'event',
          id: eventId,
          title: '203.0.113.77',
          subtitle: 'udp.amplification.dns 2026-04-01T09:12:44Z',
          state: 'EVENT_ENDED',
          match: 'exact',
          url: `/v3/lighthouse/security/events/related/${eventId}`,
          team: null,
        },
        {
          kind: 'announcement',
          id: String(web.id),
          title: web.cidr,
          subtitle: `AS${web.origin_asn}, Web`,
          state: 'announced',
          match: 'related',
          url: `/v3/ipam/announcements/${web.id}`,
          team: null,
        },
      ],
      truncated: [],
    },
  }),
]
