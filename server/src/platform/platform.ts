// The operator's world as entries that can be compared: what each kind of thing has for fields, and what a new one gets
// where the file is silent. A field that the file does not name is left as it is in the database.
import type { Prefix } from '../net/prefix.ts'
import type { Path } from './problem.ts'
import type { Section } from './schema.ts'
import type { NamedSpeaker } from '../drivers/speakers.ts'

/** True: "passed"; the time of the pass is kept where there is one, else now. A text is that time, in ISO 8601. */
export type PassedAt = boolean | string

/**
 * Who says that a team holds an ASN. A text or true: the operator. False: the operator says that it does not, so proofs of the
 * team do not count. `proven`: the team by itself, since that time. Null: nobody.
 */
export type AsnHold = PassedAt | { readonly proven: string } | null

export const isOperatorsWord = (hold: AsnHold | undefined): boolean =>
  hold === true || typeof hold === 'string'

/** The fields of each kind. Those that make up the key never change. */
export type Fields = {
  location: { name: string; country: string; timezone: string }
  region: {
    name: string
    location: string
    open: boolean
    speakers: readonly NamedSpeaker[]
    /** How many routers must carry a route before it counts as announced; null: all that are not drained. */
    quorum: number | null
    communities: readonly string[]
    large_communities: readonly string[]
  }
  team: { name: string; modules: readonly string[]; enable_dns: boolean; enable_sdwan: boolean }
  user: {
    email: string
    username: string
    first_name: string
    last_name: string
    display_name: string
    avatar_url: string
    country: string
    staff: boolean
    demo: boolean
    /** Whether its holder is known to read the address. */
    confirmed: boolean
    password_hash: string
  }
  membership: { team: string; user: string; admin: boolean }
  prefix: { team: string; prefix: Prefix; name: string; location: string | null }
  asn: { team: string; asn: number; name: string; verified: AsnHold }
  announcement: {
    team: string
    prefix: Prefix
    origin_asn: number
    description: string
    suspended: boolean
    irr: PassedAt
    rpki: PassedAt
    loa: PassedAt
    /** The team's own once the announcement exists: the file wins only when it is told to. */
    enabled: boolean
    /** As `enabled`; slugs in order. */
    regions: readonly string[]
  }
  source: { kind: string; name: string; secret_mac: string; settings: Readonly<Record<string, unknown>> }
}

export type Kind = keyof Fields

/** In the order in which things are made; they are deleted in the reverse order. */
export const kinds = [
  'location',
  'region',
  'team',
  'user',
  'membership',
  'prefix',
  'asn',
  'announcement',
  'source',
] as const satisfies readonly Kind[]

export const sectionOf: Record<Kind, Section> = {
  location: 'locations',
  region: 'regions',
  team: 'teams',
  user: 'users',
  membership: 'users',
  prefix: 'prefixes',
  asn: 'asns',
  announcement: 'announcements',
  source: 'sources',
}

/** One thing as the file wants it: only the fields that the file names. `path` is where it stands. */
export type Entry<K extends Kind = Kind> = {
  readonly [T in K]: {
    readonly kind: T
    readonly key: string
    readonly fields: Readonly<Partial<Fields[T]>>
    readonly path: Path
  }
}[K]

/** One thing as it is in the database. */
export type Row<K extends Kind = Kind> = {
  readonly [T in K]: {
    readonly kind: T
    readonly key: string
    /** The id of the row, as it stands in the audit; the key where there is no other. */
    readonly id: number | string
    readonly fields: Readonly<Fields[T]>
    /** Why it cannot be deleted now, beside what refers to it; null when it can. */
    readonly inUse: string | null
    /** `region ams`: what it leans on beyond what its fields name. */
    readonly alsoRefersTo: readonly string[]
    /** False for what a team made itself: the file need not name it. */
    readonly prunable: boolean
    /** Fields that the team has set since: the file wins over them only when it is told to. */
    readonly teamsOwn: readonly string[]
  }
}[K]

/** Everything that there is, by kind and key. */
export type Current = {
  readonly [K in Kind]: ReadonlyMap<string, Row<K>>
} & {
  /** Keys of memberships that the member or the team has ended: only an invitation, or force, brings them back. */
  readonly ended?: ReadonlySet<string>
}

export const emptyPlatform: Current = {
  location: new Map(),
  region: new Map(),
  team: new Map(),
  user: new Map(),
  membership: new Map(),
  prefix: new Map(),
  asn: new Map(),
  announcement: new Map(),
  source: new Map(),
}

/** What the file wants, and which of its sections it has: only these are pruned. */
export type Desired = { readonly entries: readonly Entry[]; readonly present: ReadonlySet<Section> }

type Defaults = { readonly [K in Kind]: (given: Readonly<Partial<Fields[K]>>) => Fields[K] }

/** A new thing, with what it gets where the file is silent. The required fields were checked before. */
export const withDefaults: Defaults = {
  location: (given) => ({ name: '', country: '', timezone: '', ...given }),
  region: (given) => ({
    name: '',
    location: '',
    open: true,
    speakers: [],
    quorum: null,
    communities: [],
    large_communities: [],
    ...given,
  }),
  team: (given) => ({ name: '', modules: [], enable_dns: false, enable_sdwan: false, ...given }),
  user: (given) => {
    const { email = '', first_name = '', last_name = '' } = given
    const username = email.slice(0, email.indexOf('@'))
    const display_name = [first_name, last_name].filter(Boolean).join(' ') || username
    const plain = {
      avatar_url: '',
      country: '',
      staff: false,
      demo: false,
      confirmed: true,
      password_hash: '',
    }
    return { ...plain, email, first_name, last_name, username, display_name, ...given }
  },
  membership: (given) => ({ team: '', user: '', admin: false, ...given }),
  prefix: (given) => ({ team: '', prefix: '' as Prefix, name: '', location: null, ...given }),
  asn: (given) => ({ team: '', asn: 0, name: '', verified: null, ...given }),
  announcement: (given) => {
    const validated = { irr: false, rpki: false, loa: false }
    const silent = { description: '', suspended: false, enabled: false, regions: [] }
    return { team: '', prefix: '' as Prefix, origin_asn: 0, ...silent, ...validated, ...given }
  },
  source: (given) => ({ kind: '', name: '', secret_mac: '', settings: {}, ...given }),
}
