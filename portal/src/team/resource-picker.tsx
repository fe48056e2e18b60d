// The resources to which a new credential is limited, and a preview. The team's objects are suggestions; other values can be typed.
import { Alert, MultiSelect, Stack, Switch, TagsInput, Text } from '@mantine/core'
import { listZonesRoute } from '@pharos/contract/dns/zone'
import { listPortsRoute } from '@pharos/contract/inventory/port'
import { listPrefixesRoute } from '@pharos/contract/inventory/prefix'
import { describeResources, type Resources } from '@pharos/contract/resource-limit'
import { listServicesRoute } from '@pharos/contract/inventory/service'
import { useAnswer } from '../api/queries.ts'
import type { FieldDeclaration, WidgetProps } from '../ui/form.tsx'
import { words } from './words.ts'

const { resources: t } = words

export type ResourceKind = 'zones' | 'prefixes' | 'ports' | 'services'

export type PickedResources = {
  readonly isLimited: boolean
  readonly zones: readonly string[]
  /** Of each zone; empty: all names. */
  readonly names: readonly string[]
  readonly types: readonly string[]
  readonly prefixes: readonly string[]
  readonly ports: readonly string[]
  readonly services: readonly string[]
}

export const noResources: PickedResources = {
  isLimited: false,
  zones: [],
  names: [],
  types: [],
  prefixes: [],
  ports: [],
  services: [],
}

/** Returns the resources as the API takes them; undefined without a limit. */
export function resourcesOf(picked: PickedResources): Resources | undefined {
  const { isLimited, zones, names, types, prefixes, ports, services } = picked
  if (!isLimited) return undefined
  const within = {
    ...(names.length > 0 ? { names: [...names] } : {}),
    ...(types.length > 0 ? { types: [...types] } : {}),
  }
  return {
    ...(zones.length > 0 ? { zones: zones.map((zone) => ({ zone, ...within })) } : {}),
    ...(prefixes.length > 0 ? { prefixes: [...prefixes] } : {}),
    ...(ports.length > 0 ? { ports: ports.map(Number) } : {}),
    ...(services.length > 0 ? { services: services.map(Number) } : {}),
  }
}

/** The value is `PickedResources`. */
export const resourcePicker = (kinds: readonly ResourceKind[]): FieldDeclaration => ({
  label: t.label,
  required: false,
  check: (value: PickedResources) =>
    value.isLimited && kinds.every((kind) => value[kind].length === 0) ? t.needsOne : undefined,
  Widget: (props) => <ResourcePicker {...props} kinds={kinds} />,
})

/** All objects of a kind; a team has few hundred. */
const all = { limit: 1000 } as const

function ResourcePicker({
  input,
  error,
  readOnly,
  kinds,
}: WidgetProps & { readonly kinds: readonly ResourceKind[] }) {
  const picked = input.value as PickedResources
  const change = (changes: Partial<PickedResources>): void => input.onChange({ ...picked, ...changes })
  return (
    <Stack gap="sm">
      <Switch
        label={t.limit}
        description={t.limitHelp}
        checked={picked.isLimited}
        disabled={readOnly}
        onChange={(event) => change({ isLimited: event.currentTarget.checked })}
      />
      {picked.isLimited && (
        <>
          {kinds.map((kind) => (
            <Kind key={kind} kind={kind} picked={picked} change={change} />
          ))}
          {error && (
            <Text size="sm" c="bad">
              {error}
            </Text>
          )}
          <Preview picked={picked} />
        </>
      )}
    </Stack>
  )
}

type KindProps = {
  readonly picked: PickedResources
  readonly change: (changes: Partial<PickedResources>) => void
}

function Kind({ kind, ...props }: KindProps & { readonly kind: ResourceKind }) {
  if (kind === 'zones') return <Zones {...props} />
  if (kind === 'prefixes') return <Prefixes {...props} />
  return kind === 'ports' ? <Ports {...props} /> : <Services {...props} />
}

const splitting = { splitChars: [',', ' '], acceptValueOnBlur: true }

function Zones({ picked, change }: KindProps) {
  const { data } = useAnswer(listZonesRoute, { query: { ...all, ordering: 'name' } })
  return (
    <>
      <TagsInput
        {...splitting}
        label={t.zones}
        data={data?.results.map(({ name }) => name) ?? []}
        value={[...picked.zones]}
        onChange={(zones) => change({ zones })}
      />
      {picked.zones.length > 0 && (
        <>
          <TagsInput
            {...splitting}
            label={t.names}
            description={t.namesHelp}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            placeholder={picked.names.length === 0 ? t.allNames : ''}
            value={[...picked.names]}
            onChange={(names) => change({ names })}
          />
          <TagsInput
            {...splitting}
            label={t.types}
            placeholder={picked.types.length === 0 ? t.allTypes : ''}
            data={['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'SRV', 'TLSA', 'TXT']}
            value={[...picked.types]}
            onChange={(types) => change({ types })}
          />
        </>
      )}
    </>
  )
}

function Prefixes({ picked, change }: KindProps) {
  const { data } = useAnswer(listPrefixesRoute, { query: { ...all, ordering: 'cidr' } })
  return (
    <TagsInput
      {...splitting}
      label={t.prefixes}
      data={data?.results.map(({ cidr }) => cidr) ?? []}
      value={[...picked.prefixes]}
      onChange={(prefixes) => change({ prefixes })}
    />
  )
}

function Ports({ picked, change }: KindProps) {
  const { data, error } = useAnswer(listPortsRoute, { query: { ...all, ordering: 'name' } })
  return (
    <MultiSelect
      label={t.ports}
      error={error ? t.unknown : undefined}
      data={
        data?.results.map(({ id, name, device_name }) => ({
          value: String(id),
          label: `${name} · ${device_name}`,
        })) ?? []
      }
      searchable
      hidePickedOptions
      value={[...picked.ports]}
      onChange={(ports) => change({ ports })}
    />
  )
}

function Services({ picked, change }: KindProps) {
  const { data, error } = useAnswer(listServicesRoute, { query: { ...all, ordering: 'name' } })
  return (
    <MultiSelect
      label={t.services}
      error={error ? t.unknown : undefined}
      data={data?.results.map(({ id, name }) => ({ value: String(id), label: name })) ?? []}
      searchable
      hidePickedOptions
      value={[...picked.services]}
      onChange={(services) => change({ services })}
    />
  )
}

/** The resources that the credential can access, in the words of the API's errors. */
const Preview = ({ picked }: { readonly picked: PickedResources }) => (
  <Alert color="info" title={t.preview}>
    <Text size="sm">{t.sees(describeResources(resourcesOf(picked) ?? {}))}</Text>
    <Text size="sm">{t.closed}</Text>
  </Alert>
)
