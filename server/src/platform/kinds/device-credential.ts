// SNMP credentials with which the provider's devices are read: a community (v2c), or a user with passwords (v3, RFC 3414).
import { Type, type Static } from 'typebox'
import { defineKind } from '../engine/define-kind.ts'
import { column, mapped } from '../engine/field.ts'
import type { CheckContext, Field } from '../engine/kind.ts'
import type { Path } from '../engine/problem.ts'
import { FilePath, Name, Optional, SecretText, Strict } from '../engine/schema.ts'
import { sealedSecret } from '../engine/sealed-secret.ts'

const versions = ['v2c', 'v3'] as const
const auths = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'] as const
const privacies = ['aes128', 'aes256b', 'aes256r'] as const
const oneOf = (values: readonly string[]) => ({ expects: `one of ${values.join(', ')}` })

/** RFC 3414 section 11.2. */
const passwordMin = 8

const Credential = Strict({
  name: Name,
  version: Type.Enum([...versions], oneOf(versions)),
  community: Optional(SecretText),
  community_file: Optional(FilePath),
  user: Optional(Type.String({ minLength: 1, maxLength: 32, expects: 'a user name, 1 to 32 characters' })),
  auth: Optional(Type.Enum([...auths], oneOf(auths))),
  auth_password: Optional(SecretText),
  auth_password_file: Optional(FilePath),
  privacy: Optional(
    Type.Enum([...privacies], {
      expects: `one of ${privacies.join(', ')}; DES is not supported, it is broken`,
    }),
  ),
  privacy_password: Optional(SecretText),
  privacy_password_file: Optional(FilePath),
})

const hasPasswordLength = (text: string): string | undefined =>
  text.length < passwordMin ? `the password needs at least ${passwordMin} characters` : undefined

const secrets = {
  community: sealedSecret('community', 'device-credential'),
  auth_password: { ...sealedSecret('auth_password', 'device-credential'), objectionTo: hasPasswordLength },
  privacy_password: {
    ...sealedSecret('privacy_password', 'device-credential'),
    objectionTo: hasPasswordLength,
  },
}

const sealedColumn = (
  name: 'community_sealed' | 'auth_sealed' | 'privacy_sealed',
  secret: keyof typeof secrets,
): Field<string | null> =>
  mapped('device_credentials', [name], {
    read: ({ [name]: sealed }) => sealed?.toString('hex') ?? null,
    write: (hex) => ({ [name]: hex === null ? null : `\\x${hex}` }),
    initial: null,
    secret: secrets[secret],
  })

export const deviceCredentialKind = defineKind({
  name: 'credential',
  plural: 'credentials',
  section: 'credentials',
  element: Credential,
  table: { name: 'device_credentials', id: 'id' },
  identity: ['name'],
  fields: {
    name: column('device_credentials', 'name'),
    version: column('device_credentials', 'version', { isShown: true }),
    user: column('device_credentials', 'user_name', { initial: '' }),
    auth: column('device_credentials', 'auth', { initial: null }),
    privacy: column('device_credentials', 'privacy', { initial: null }),
    community_sealed: sealedColumn('community_sealed', 'community'),
    auth_sealed: sealedColumn('auth_sealed', 'auth_password'),
    privacy_sealed: sealedColumn('privacy_sealed', 'privacy_password'),
  },
  wakes: 'devices',
  check(context, elements): void {
    for (const { path, element } of elements) {
      const { name, version, user, auth, privacy } = element
      context.add(deviceCredentialKind, path, { name, version, user, auth, privacy })
      checkParts(context, path, element)
      if (version === 'v2c') context.addSecret(deviceCredentialKind, 'community_sealed', { path, element })
      if (auth !== undefined) context.addSecret(deviceCredentialKind, 'auth_sealed', { path, element })
      if (privacy !== undefined) context.addSecret(deviceCredentialKind, 'privacy_sealed', { path, element })
    }
  },
})

/** The two versions have different fields, and privacy needs authentication (RFC 3414 section 1.4.3). */
function checkParts(context: CheckContext, path: Path, element: Static<typeof Credential>): void {
  const given = (names: readonly (keyof typeof element)[]) =>
    names.filter((name) => element[name] !== undefined)
  const foreign =
    element.version === 'v2c'
      ? given([
          'user',
          'auth',
          'auth_password',
          'auth_password_file',
          'privacy',
          'privacy_password',
          'privacy_password_file',
        ])
      : given(['community', 'community_file'])
  for (const name of foreign) context.problem([...path, name], `${name} is not a part of ${element.version}`)
  if (element.version === 'v2c') return
  if (element.user === undefined) context.problem(path, 'v3 needs user')
  if (element.auth === undefined)
    for (const name of given(['auth_password', 'auth_password_file', 'privacy']))
      context.problem([...path, name], `${name} needs auth`)
  if (element.privacy === undefined)
    for (const name of given(['privacy_password', 'privacy_password_file']))
      context.problem([...path, name], `${name} needs privacy`)
}
