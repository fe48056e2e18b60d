// Name servers that follow the primary: they get NOTIFY, transfer zones, and are queried for serials.
import { Type } from 'typebox'
import { defineKind } from '../engine/define-kind.ts'
import { column, referenceById } from '../engine/field.ts'
import type { Field } from '../engine/kind.ts'
import { Flag, Optional, Strict, Text } from '../engine/schema.ts'
import { HostName, hostNameKey, readHostName, tsigKeyKind } from './tsig-key.ts'
import { parseAddressField } from './values.ts'

const kinds = ['dns', 'sandbox'] as const
const signers = ['pharos', 'external'] as const

export const nameServerKind = defineKind({
  name: 'name_server',
  plural: 'name_servers',
  section: 'name_servers',
  element: Strict({
    name: HostName,
    kind: Optional(Type.Enum([...kinds], { expects: `one of ${kinds.join(', ')}` })),
    address: Optional(Type.String({ minLength: 2, maxLength: 45, expects: 'an IP address' })),
    port: Optional(Type.Integer({ minimum: 1, maximum: 65_535, expects: 'a port, 1 to 65535' })),
    tsig_key: Optional(HostName),
    region: Optional(Text),
    public: Optional(Flag),
    catalog: Optional(Flag),
    signing: Optional(Type.Enum([...signers], { expects: `one of ${signers.join(', ')}` })),
  }),
  table: { name: 'dns_servers', id: 'id' },
  identity: ['name'],
  keyOf: ({ name }) => hostNameKey(name),
  fields: {
    name: column('dns_servers', 'name'),
    kind: column('dns_servers', 'kind', { initial: 'dns', isShown: true }),
    address: column('dns_servers', 'address', { initial: null, isShown: true }),
    port: column('dns_servers', 'port', { initial: 53 }),
    tsig_key: {
      ...referenceById('dns_servers', 'tsig_key_id', tsigKeyKind),
      initial: null,
    } as unknown as Field<string | null>,
    region: column('dns_servers', 'region', { initial: '' }),
    public: column('dns_servers', 'is_public', { initial: true }),
    catalog: column('dns_servers', 'catalog', { initial: true }),
    signing: column('dns_servers', 'signing', { initial: 'pharos' }),
  },
  wakes: 'dns',
  check(context, elements): void {
    for (const { path, element } of elements) {
      const name = readHostName(context, [...path, 'name'], element.name)
      const key =
        element.tsig_key === undefined
          ? undefined
          : readHostName(context, [...path, 'tsig_key'], element.tsig_key)
      if ((element.kind ?? 'dns') === 'dns' && element.address === undefined)
        context.problem([...path, 'address'], 'address is required: NOTIFY is sent to it')
      const address = parseAddressField(context, [...path, 'address'], element.address)
      if (name !== undefined) context.add(nameServerKind, path, { ...element, name, address, tsig_key: key })
    }
  },
})
