// Examples of the prefixes that the provider has assigned to the team.
import { example } from '../example.ts'
import { getPrefixRoute, listPrefixesRoute, type Prefix } from '../inventory/prefix.ts'
import { amsterdam } from './world.ts'

const mail: Prefix = {
  id: 311,
  cidr: '198.51.100.128/25',
  prefix: '198.51.100.128',
  prefixlen: 25,
  name: 'Mail',
  location: amsterdam,
  created: '2026-02-27T09:10:44.020Z',
}
const mail6: Prefix = {
  ...mail,
  id: 312,
  cidr: '2001:db8:20::/48',
  prefix: '2001:db8:20::',
  prefixlen: 48,
}

export const prefixExamples = [
  example(listPrefixesRoute, {
    query: { location: [amsterdam.key], ordering: 'cidr', limit: 100 },
    response: { results: [mail, mail6], count: 2 },
  }),
  example(getPrefixRoute, { params: { prefix_id: mail.id }, response: mail }),
]
