// TSIG keys: secrets that the provider shares with name servers, and with teams for transfers of their zones.
import { NameError, parseName } from '../../net/dns/name.ts'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { defineKind } from '../engine/define-kind.ts'
import { column, mapped, referenceById } from '../engine/field.ts'
import type { CheckContext, Field, Secret } from '../engine/kind.ts'
import type { Path } from '../engine/problem.ts'
import { FilePath, Flag, Optional, SecretText, Strict, TeamSlug } from '../engine/schema.ts'
import { sealedSecret } from '../engine/sealed-secret.ts'
import { teamKind } from './team.ts'

const algorithms = ['hmac-sha1', 'hmac-sha224', 'hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const

export const HostName = Type.String({
  minLength: 1,
  maxLength: 1020,
  expects: 'a domain name such as ns1.example.net',
})

const secret: Secret = {
  ...sealedSecret('secret', 'tsig-key', (text) => Buffer.from(text, 'base64')),
  objectionTo: (text) =>
    /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0 ? undefined : 'the secret is not base64',
}

/** Returns the canonical name; reports a problem if the text is invalid. */
export function readHostName(context: CheckContext, path: Path, text: string): string | undefined {
  try {
    return parseName(text)
  } catch (error) {
    if (!(error instanceof NameError)) throw error
    context.problem(path, error.message)
    return undefined
  }
}

/**
 * Returns the key of an element with a host name, which can be written in several ways; the text itself if it is
 * invalid.
 */
export function hostNameKey(name: string): string {
  try {
    return parseName(name)
  } catch (error) {
    if (!(error instanceof NameError)) throw error
    return name
  }
}

export const tsigKeyKind = defineKind({
  name: 'tsig_key',
  plural: 'tsig_keys',
  section: 'tsig_keys',
  element: Strict({
    name: HostName,
    algorithm: Optional(Type.Enum([...algorithms], { expects: `one of ${algorithms.join(', ')}` })),
    secret: Optional(SecretText),
    secret_file: Optional(FilePath),
    team: Optional(TeamSlug),
    update: Optional(Flag),
  }),
  table: { name: 'dns_tsig_keys', id: 'id', where: sql`t.managed_by = 'operator'` },
  identity: ['name'],
  keyOf: ({ name }) => hostNameKey(name),
  fields: {
    name: column('dns_tsig_keys', 'name'),
    algorithm: column('dns_tsig_keys', 'algorithm', { initial: 'hmac-sha256', isShown: true }),
    update: column('dns_tsig_keys', 'may_update', { initial: false, isShown: true }),
    secret_sealed: mapped('dns_tsig_keys', ['secret_sealed'], {
      read: ({ secret_sealed: sealed }) => sealed.toString('hex'),
      write: (hex) => ({ secret_sealed: `\\x${hex}` }),
      secret,
    }),
    team: { ...referenceById('dns_tsig_keys', 'team_id', teamKind), initial: null } as unknown as Field<
      string | null
    >,
  },
  check(context, elements): void {
    for (const { path, element } of elements) {
      const { secret: text, secret_file: _file, ...fields } = element
      const name = readHostName(context, [...path, 'name'], element.name)
      if (name === undefined) continue
      const objection = text === undefined ? undefined : secret.objectionTo!(text, fields)
      if (element.update === true && element.team === undefined)
        context.problem([...path, 'update'], 'needs `team`: a key changes the zones of its team')
      if (objection !== undefined) context.problem([...path, 'secret'], objection)
      context.add(tsigKeyKind, path, { ...fields, name })
      context.addSecret(tsigKeyKind, 'secret_sealed', { path, element: { ...element, name } })
    }
  },
})
