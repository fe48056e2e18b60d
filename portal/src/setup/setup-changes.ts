// What each step of the setup creates, as changes of the platform with the fields of its form. Pure.
import { slugOf } from '@pharos/contract/slug'
import type { FormChange } from '../platform/form-change.ts'

type Action = 'create' | 'update'

const changeOf = <Field extends string>(
  action: Action,
  section: string,
  values: Record<string, unknown>,
  fields: Readonly<Record<string, Field>>,
): FormChange<Field> => ({ change: { action, section, values: withoutEmpty(values) }, fields })

const withoutEmpty = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '' && value !== undefined))

export type ProviderFields = {
  readonly name: string
  readonly asn: number | ''
  /** An address of mail without `mailto:`, or a link. */
  readonly support: string
  readonly logo: string
}

/** `stored`: the values of the provider, if it has some; values that the form does not show stay. */
export function providerChanges(
  { support, ...values }: ProviderFields,
  stored: Readonly<Record<string, unknown>> | undefined,
): FormChange<keyof ProviderFields>[] {
  const link =
    support.trim() === '' || support.trim().startsWith('https:') ? support.trim() : `mailto:${support.trim()}`
  const { asn: _asn, support: _support, ...others } = stored ?? {}
  return [
    changeOf(
      stored ? 'update' : 'create',
      'provider',
      { ...others, ...values, name: values.name.trim(), support: link },
      { name: 'name', asn: 'asn', support: 'support', logo: 'logo' },
    ),
  ]
}

export type RouterFields = {
  readonly kind: string
  readonly address: string
  readonly owner: string
  readonly insecure: boolean
  readonly next_hop4: string
  readonly next_hop6: string
  readonly name: string
  readonly slug: string
  readonly country: string
  readonly timezone: string
}

/** `locations`: the keys of existing ones. The region and its location have the same short name. */
export function routerChanges(fields: RouterFields, locations: readonly string[]): FormChange[] {
  const { name, slug, country, timezone } = fields
  const location = changeOf(
    'create',
    'locations',
    { key: slug, name: name.trim(), country, timezone },
    { key: 'slug', name: 'name', country: 'country', timezone: 'timezone' },
  )
  const region = changeOf(
    'create',
    'regions',
    { slug, name: name.trim(), location: slug, speaker: speakerOf(fields) },
    { slug: 'slug', name: 'name', speaker: fields.kind === 'sandbox' ? 'kind' : 'address' },
  )
  return locations.includes(slug) ? [region] : [location, region]
}

function speakerOf({ kind, address, owner, insecure, next_hop4, next_hop6 }: RouterFields): object {
  if (kind === 'sandbox') return { kind }
  const nextHop = withoutEmpty({ ipv4: next_hop4.trim(), ipv6: next_hop6.trim() })
  return {
    kind,
    address: address.trim(),
    owner: owner.trim(),
    ...(insecure ? { insecure } : {}),
    ...(Object.keys(nextHop).length > 0 ? { next_hop: nextHop } : {}),
  }
}

export type DetectorFields = { readonly kind: string; readonly name: string; readonly key: string }

export const detectorChanges = (
  { kind, name, key }: DetectorFields,
  secret: string,
): FormChange<keyof DetectorFields>[] => [
  changeOf(
    'create',
    'sources',
    { key, kind, name: name.trim(), secret },
    { key: 'key', kind: 'kind', name: 'name' },
  ),
]

export type DeviceFields = {
  readonly name: string
  readonly address: string
  readonly version: string
  readonly community: string
  readonly user: string
  readonly auth_password: string
  readonly privacy_password: string
}

/** The credential of the device has its name. */
export function deviceChanges(fields: DeviceFields): FormChange<keyof DeviceFields>[] {
  const name = fields.name.trim()
  return [
    changeOf('create', 'credentials', { name, ...credentialOf(fields) }, {
      name: 'name',
      version: 'version',
      community: 'community',
      user: 'user',
      auth_password: 'auth_password',
      privacy_password: 'privacy_password',
    } as const),
    changeOf(
      'create',
      'devices',
      { name, address: fields.address.trim(), driver: 'snmp', credential: name },
      { name: 'name', address: 'address' },
    ),
  ]
}

function credentialOf({ version, community, user, auth_password, privacy_password }: DeviceFields): object {
  if (version === 'v2c') return { version, community }
  const auth = auth_password === '' ? {} : { auth: 'sha256', auth_password }
  const privacy = privacy_password === '' ? {} : { privacy: 'aes128', privacy_password }
  return { version, user: user.trim(), ...auth, ...privacy }
}

/** A short name of at most 32 characters, as locations and regions have. */
export const shortNameOf = (name: string): string => slugOf(name).slice(0, 32).replace(/-$/, '')
