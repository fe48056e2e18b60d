// The shape of the operator's file, one list for each kind of thing. What the shape cannot say (references, prefixes,
// what may stand beside what) is in check.ts. `expects` is what an error says the value should be.
import { Line, Paragraphs } from '@pharos/contract/text'
import { Type, type Static, type TProperties, type TSchema } from 'typebox'

type Words = { readonly expects: string }

const Strict = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false })
const Optional = Type.Optional
const Pattern = (pattern: string, words: Words) => Type.String({ pattern, ...words })

const Text = Paragraphs({ maxLength: 500, expects: 'a text of at most 500 characters' })
const Name = Line({ minLength: 1, maxLength: 200, expects: 'a name, 1 to 200 characters' })
const Yes = Type.Boolean({ expects: 'true or false' })
const Country = Pattern('^[A-Z]{2}$', { expects: 'a country of two capital letters, such as NL' })
const ShortSlug = Pattern('^[a-z0-9][a-z0-9-]{0,31}$', {
  expects: 'lower-case letters, digits and hyphens, at most 32',
})
const TeamSlug = Pattern('^[a-z0-9][a-z0-9-]{0,62}$', {
  expects: 'lower-case letters, digits and hyphens, at most 63',
})
const SourceKey = Pattern('^[a-z0-9][a-z0-9_-]{0,62}$', {
  expects: 'lower-case letters, digits, hyphens and underscores, at most 63',
})
const Email = Pattern('^[^\\s@<>,;"\']{1,64}@[A-Za-z0-9.-]{1,189}$', { expects: 'an e-mail address' })
const Timezone = Type.String({
  minLength: 1,
  maxLength: 64,
  expects: 'an IANA time zone such as Europe/Amsterdam',
})
const PrefixText = Type.String({ minLength: 1, maxLength: 100, expects: 'a prefix such as 192.0.2.0/24' })
const AsnNumber = Type.Integer({
  minimum: 1,
  maximum: 4_294_967_295,
  expects: 'an AS number as a whole number, such as 64496',
})
const Secret = Type.String({ minLength: 1, maxLength: 1000, expects: 'a text in quotes' })
const FilePath = Type.String({ minLength: 1, maxLength: 4096, expects: 'the path of a file' })
const SinceWhen = Type.Union([Type.Boolean(), Type.String({ minLength: 1, maxLength: 40 })], {
  expects: 'true, false, or a time such as 2026-01-31T12:00:00Z',
})
const Anything = Type.Record(Type.String(), Type.Unknown(), { expects: 'a list of name: value' })

const moduleNames = ['inventory', 'ipam', 'lighthouse', 'shield', 'dns', 'sdwan'] as const

const Communities = Type.Array(Type.String({ minLength: 1, maxLength: 40 }), {
  uniqueItems: true,
  maxItems: 32,
  expects: "a list of communities such as ['64500:120']",
})

const Location = Strict({ key: ShortSlug, name: Name, country: Country, timezone: Timezone })

const Region = Strict({
  slug: ShortSlug,
  name: Name,
  location: ShortSlug,
  open: Optional(Yes),
  speaker: Optional(Anything),
  speakers: Optional(Type.Array(Anything, { minItems: 1, maxItems: 16, expects: 'a list of speakers' })),
  quorum: Optional(Type.Integer({ minimum: 1, maximum: 16, expects: 'a number of routers, such as 1' })),
  communities: Optional(Communities),
  large_communities: Optional(Communities),
})

const Team = Strict({
  slug: TeamSlug,
  name: Name,
  modules: Optional(
    Type.Array(Type.Enum([...moduleNames]), {
      uniqueItems: true,
      expects: `a list of ${moduleNames.join(', ')}`,
    }),
  ),
  enable_dns: Optional(Yes),
  enable_sdwan: Optional(Yes),
})

const Membership = Strict({ team: TeamSlug, admin: Optional(Yes) })

const User = Strict({
  email: Email,
  username: Optional(Name),
  first_name: Optional(Text),
  last_name: Optional(Text),
  display_name: Optional(Text),
  avatar_url: Optional(Text),
  country: Optional(Country),
  password: Optional(Secret),
  password_hash: Optional(
    Pattern('^\\$argon2id\\$v=19\\$[a-z0-9=,]{5,60}\\$[A-Za-z0-9+/]{11,200}\\$[A-Za-z0-9+/]{11,200}$', {
      expects: 'an argon2id hash such as $argon2id$v=19$m=19456,t=2,p=1$...',
    }),
  ),
  password_file: Optional(FilePath),
  teams: Optional(Type.Array(Membership, { expects: 'a list of {team, admin}' })),
  staff: Optional(Yes),
  demo: Optional(Yes),
  confirmed: Optional(Yes),
})

const Prefix = Strict({
  team: TeamSlug,
  prefix: PrefixText,
  name: Optional(Text),
  location: Optional(ShortSlug),
})

const Asn = Strict({ team: TeamSlug, asn: AsnNumber, name: Optional(Text), verified: Optional(SinceWhen) })

const Announcement = Strict({
  team: TeamSlug,
  prefix: PrefixText,
  origin_asn: AsnNumber,
  description: Optional(Text),
  regions: Optional(
    Type.Array(ShortSlug, { uniqueItems: true, expects: 'a list of different region slugs' }),
  ),
  enabled: Optional(Yes),
  suspended: Optional(Yes),
  validated: Optional(
    Type.Union(
      [
        Type.Boolean(),
        Strict({ irr: Optional(SinceWhen), rpki: Optional(SinceWhen), loa: Optional(SinceWhen) }),
      ],
      { expects: 'true, false, or {irr, rpki, loa} with true, false or a time each' },
    ),
  ),
})

const Source = Strict({
  key: SourceKey,
  kind: Pattern('^[a-z][a-z0-9_-]{0,62}$', { expects: 'the kind of a detector, such as fastnetmon' }),
  name: Name,
  secret: Optional(Secret),
  secret_file: Optional(FilePath),
  settings: Optional(Anything),
})

/** The kinds of things, in the order in which they are made: later ones refer to earlier ones. */
export const elementSchemas = {
  locations: Location,
  regions: Region,
  teams: Team,
  users: User,
  prefixes: Prefix,
  asns: Asn,
  announcements: Announcement,
  sources: Source,
} as const satisfies Record<string, TSchema>

export type Section = keyof typeof elementSchemas
export const sections = Object.keys(elementSchemas) as readonly Section[]
export type Element<S extends Section> = Static<(typeof elementSchemas)[S]>

/** What the file says, element by element; those with a wrong shape are left out, `index` counts them all the same. */
export type Written = {
  readonly [S in Section]: readonly { readonly index: number; readonly element: Element<S> }[]
}
