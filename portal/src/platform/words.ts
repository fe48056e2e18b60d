// The texts of the pages about the elements of the platform.
import type { PlatformElement } from '@pharos/contract/operator/platform'

/** The titles of the kinds, in groups: the order of the page. */
export const kindGroups = {
  Customers: {
    teams: ['Customers', 'customer', 'Teams with their modules.'],
    prefixes: ['Prefixes', 'prefix', 'Networks that customers hold: attacks on them concern the customer.'],
    asns: ['ASNs', 'ASN', 'AS numbers of customers.'],
    services: ['Services', 'service', 'What customers have bought, and how it is billed.'],
    ports: ['Ports', 'port', 'Interfaces that are sold, each to one service.'],
    cross_connects: ['Cross connects', 'cross connect', 'Cables to customers.'],
    detector_thresholds: ['Detection thresholds', 'threshold', 'What counts as an attack on a customer.'],
  },
  Network: {
    locations: ['Locations', 'location', 'Places with a country and a time zone.'],
    regions: ['Regions', 'region', 'Parts of the network with one or more BGP routers.'],
    devices: ['Devices', 'device', 'Routers and switches, and how they are read.'],
    credentials: ['SNMP credentials', 'credential', 'For reading devices. Passwords are write-only.'],
    exporters: ['Flow exporters', 'exporter', 'Settings of devices that send flows.'],
    scrubbers: ['Scrubbers', 'scrubber', 'Routers and hosts that apply shield rules.'],
    sources: ['Detectors', 'detector', 'Sources of attacks, each with a secret.'],
  },
  DNS: {
    name_servers: ['Name servers', 'name server', 'Servers that follow the primary.'],
    tsig_keys: ['TSIG keys', 'TSIG key', 'Shared with name servers and customers.'],
    dns: ['DNS defaults', 'DNS defaults', 'Defaults of zones, and quotas.'],
  },
  Provider: {
    provider: ['Provider', 'provider', 'Name, color and support address.'],
    staff_sign_in: ['Sign-in of staff', 'sign-in of staff', 'Their identity provider.'],
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly [string, string, string]>>>>

type KindText = { readonly title: string; readonly one: string; readonly about: string }

const texts = new Map(
  Object.values(kindGroups).flatMap((group) =>
    Object.entries(group).map(([section, [title, one, about]]): [string, KindText] => [
      section,
      { title, one, about },
    ]),
  ),
)

/** A kind without a text is named by its section. */
export const kindText = (section: string): KindText =>
  texts.get(section) ?? { title: fieldLabel(section), one: fieldLabel(section).toLowerCase(), about: '' }

const abbreviations: Readonly<Record<string, string>> = {
  asn: 'ASN',
  dns: 'DNS',
  sdwan: 'SD-WAN',
  bps: 'bit/s',
  pps: 'packets/s',
  ms: '(ms)',
  bgp: 'BGP',
  ttl: 'TTL',
  tsig: 'TSIG',
  ns: 'NS',
  id: 'ID',
  z: 'Side Z',
  ref: 'reference',
}

/** `billing_method` as `Billing method`. */
export function fieldLabel(name: string): string {
  const text = name
    .replace(/_(sealed|mac|hash)$/, '')
    .split('_')
    .map((part) => abbreviations[part] ?? part)
    .join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** `next_hop.ipv4` as `Next hop IPv4`. */
export const partLabel = (name: string): string =>
  fieldLabel(name.replaceAll('.', '_')).replace(/\bipv(\d)/gi, 'IPv$1')

export const managers: Readonly<Record<PlatformElement['managed_by'], string>> = {
  file: 'File',
  portal: 'Portal',
  netbox: 'NetBox',
  team: 'Customer',
}

export const words = {
  title: 'Platform',
  note: 'The elements that the installation consists of. Each is managed here, by a platform file, or by NetBox.',
  back: 'All kinds',
  kinds: 'Kinds',
  key: 'Key',
  managedBy: 'Managed by',
  create: (one: string) => `Create ${one}`,
  edit: 'Edit',
  editOne: (one: string, key: string) => `Edit ${one} ${key}`,
  delete: 'Delete',
  deleteOne: (one: string, key: string) => `Delete ${one} ${key}`,
  deleteText: 'An element in use is kept; the plan says why.',
  review: 'Review plan',
  apply: 'Apply',
  change: 'Change fields',
  close: 'Close',
  applied: 'Applied',
  nothingChanges: 'Nothing changes.',
  planTitle: 'This will change',
  actions: { create: 'Create', update: 'Update', delete: 'Delete' },
  field: 'Field',
  before: 'Before',
  after: 'After',
  secretChanged: 'changed',
  notices: 'Notices',
  heldTitle: 'Many deletions',
  held: (list: string) => `The plan deletes ${list}. Confirm that these are the right ones.`,
  heldOf: (count: number, kind: string, limit: number) =>
    `${count.toLocaleString('en')} of kind ${kind} (${limit.toLocaleString('en')} without approval)`,
  confirmHeld: 'I have checked these deletions',
  readOnly: {
    file: (file: string | null) =>
      file === null
        ? 'A platform file manages this element. Change it there and apply the file.'
        : `The file ${file} manages this element. Change it there and apply the file.`,
    netbox: 'NetBox manages this element. Change it there.',
    portal: '',
    team: 'The customer made this element. A change here makes it one of the provider.',
  },
  stored: 'Stored; leave it empty to keep it',
  chooseFile: 'Choose file',
  badImage: 'must be an SVG image of at most 64 kB',
  imageStored: 'Stored. A new file replaces it.',
  yes: 'Yes',
  no: 'No',
  notSet: 'Not set',
  json: 'As JSON.',
  badJson: 'must be valid JSON',
  noSettings: 'No settings.',
  addObject: 'Add',
  removeObject: 'Remove',
  search: 'Search',
  none: (things: string) => `No ${things.toLowerCase()} yet`,
  noneHelp: 'Create the first one here, or apply a platform file.',
  customer: {
    title: 'Create customer',
    note: 'The team with what it holds, in one plan. Everything but the name can be added later.',
    team: 'Customer',
    teamHelp: 'The short name is used by the API and in the platform file. It never changes.',
    name: 'Name',
    slug: 'Short name',
    modules: 'Modules',
    modulesHelp: 'What the customer sees in the portal and may use.',
    access: 'First admin',
    accessHelp: 'Gets a mail with a link to join the team, and invites further members.',
    email: 'E-mail',
    network: 'Network',
    networkHelp:
      'Attacks on its prefixes concern the customer. The customer proves the ASN, unless staff verify it.',
    prefixes: 'Prefixes',
    asn: 'ASN',
    port: 'Service and port',
    portHelp:
      'The port is measured and billed with the service. The interface is named as the device reports it.',
    service: 'Service',
    serviceType: 'Type',
    commit: 'Commit in bit/s',
    circuit: 'Circuit',
    device: 'Device',
    interface: 'Interface',
    needsService: 'needs a service',
    needsDevice: 'needs a device and an interface',
    done: (name: string) => `${name} was created`,
    invited: (email: string) => `An invitation was sent to ${email}.`,
    again: 'Try again',
    nextTitle: 'Next steps',
    zone: 'Create a zone for the customer',
    zoneHelp: 'Zones belong to the team: open it with a reason, which the customer reads.',
    zoneNeedsDns: 'Zones need the module DNS.',
    more: 'Add further elements',
    open: 'Open the customer',
  },
} as const
