// A new customer as changes of the platform: the team with its prefixes, ASN, service and port, planned and applied together. Pure.
import type { FormChange } from './form-change.ts'

export type NewCustomer = {
  readonly name: string
  readonly slug: string
  readonly modules: readonly string[]
  readonly email: string
  readonly prefixes: readonly string[]
  readonly asn: number | ''
  readonly service: string
  readonly service_type: string
  readonly commit_bps: number | ''
  readonly circuit_id: string
  readonly device: string
  readonly interface: string
}

type CustomerChange = FormChange<keyof NewCustomer>

export function changesOf(customer: NewCustomer): CustomerChange[] {
  const { name, slug, modules, prefixes, asn, service, service_type: type, commit_bps: commit } = customer
  const team = slug
  const create = (
    section: string,
    values: Record<string, unknown>,
    fields: CustomerChange['fields'],
  ): CustomerChange => ({ change: { action: 'create', section, values }, fields })
  return [
    create(
      'teams',
      { slug, name: name.trim(), modules: [...modules] },
      { slug: 'slug', name: 'name', modules: 'modules' },
    ),
    ...prefixes.map((prefix) => create('prefixes', { team, prefix }, { prefix: 'prefixes' })),
    ...(asn === '' ? [] : [create('asns', { team, asn }, { asn: 'asn' })]),
    ...(service === ''
      ? []
      : [
          create(
            'services',
            { team, name: service, type, ...(commit === '' ? {} : { commit_bps: commit }) },
            { name: 'service', type: 'service_type', commit_bps: 'commit_bps' },
          ),
        ]),
    ...(customer.circuit_id === ''
      ? []
      : [
          create(
            'ports',
            {
              circuit_id: customer.circuit_id,
              device: customer.device,
              interface: customer.interface,
              ...(service === '' ? {} : { team, service }),
            },
            { circuit_id: 'circuit_id', device: 'device', interface: 'interface', service: 'service' },
          ),
        ]),
  ]
}
