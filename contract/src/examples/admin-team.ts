// Examples of customers and registries, for the provider's staff.
import { getCustomerRoute, listCustomersRoute, listRegistriesRoute, type Customer } from '../operator/team.ts'
import { example } from '../example.ts'
import { team, user } from './world.ts'

const customer: Customer = {
  id: team.id,
  slug: 'lindholm',
  name: team.name,
  country: 'SE',
  modules: user.enabled_modules,
  require_2fa: false,
  created: '2026-03-01T08:00:00.000Z',
  members: 2,
  announcements: 11,
  announced: 5,
  ongoing_attacks: 1,
  pending_letters: 1,
  held_routes: 4,
  open_requests: 5,
}

export const adminTeamExamples = [
  example(listCustomersRoute, {
    query: { ordering: '-open_requests', limit: 100 },
    response: { results: [customer], count: 1 },
  }),
  example(getCustomerRoute, { params: { team_id: team.id }, response: customer }),
  example(listRegistriesRoute, {
    response: {
      sources: [
        {
          kind: 'rpki',
          name: 'rtr://rpki.example.net:8282',
          state: 'up',
          last_answer: '2026-04-01T09:20:58.100Z',
          last_error: null,
          records: 702_114,
          serial: null,
          processes: 2,
          reported: '2026-04-01T09:21:03.420Z',
        },
        {
          kind: 'irr',
          name: 'whois://irr.example.net',
          state: 'down',
          last_answer: '2026-04-01T08:55:12.000Z',
          last_error: 'connection refused',
          records: null,
          serial: 'RADB:5512034',
          processes: 2,
          reported: '2026-04-01T09:21:03.420Z',
        },
      ],
    },
  }),
]
