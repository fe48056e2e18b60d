// The team's resources that an event affects, how they match, and where the traffic was seen.
import { Skeleton, Text } from '@mantine/core'
import type { MatchResource, RelatedEventDetail, Relationship } from '@pharos/contract/events/event'
import { Mono } from '../ui/cells.tsx'
import { Facts, type Fact } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import classes from './events.module.css'
import { idOf, type Relationships } from './use-relationships.ts'
import { words } from './words.ts'

const { affected: texts } = words

type Props = { readonly event: RelatedEventDetail; readonly relationships: Relationships }

export function AffectedResources({ event, relationships: { list, error, retry } }: Props) {
  const place = (...parts: string[]) => parts.filter(Boolean).join(', ')
  const networks = event.parsed_data.networks ?? []
  const facts: readonly Fact[] = [
    [texts.networks, networks.length > 1 ? <Mono key="all">{networks.join(', ')}</Mono> : undefined],
    [texts.seenIn, place(event.source_location, event.source_country)],
    [texts.targetIn, place(event.target_location, event.target_country)],
  ]
  return (
    <Section title={texts.title}>
      {error !== undefined && error !== null && <Problem error={error} retry={retry} />}
      {!list && !error && <Skeleton height={56} />}
      {list && list.length === 0 && (
        <Text size="sm" c="dimmed">
          {texts.gone}
        </Text>
      )}
      {list && list.length > 0 && <Resources list={list} />}
      <Facts facts={facts} />
    </Section>
  )
}

/** Several resources of one kind are one fact. */
const Resources = ({ list }: { list: readonly Relationship[] }) => (
  <Facts
    facts={[...Map.groupBy(list, ({ match_resource: kind }) => kind)].map(([kind, ofKind]) => [
      texts.kinds[kind],
      ofKind.map((one) => <Resource key={one.match_resource_link + one.match_type} relationship={one} />),
    ])}
  />
)

function Resource({ relationship }: { relationship: Relationship }) {
  const { match_resource, match_resouce_name: name, match_type, match_value } = relationship
  const value = match_resource === 'asn' ? `AS${match_value.replace(/^AS/i, '')}` : match_value
  return (
    <div className={classes['resource']}>
      <ResourceLink resource={match_resource} id={idOf(relationship)}>
        {value}
      </ResourceLink>
      {name !== match_value && name !== value && <span> {name}</span>}
      <div className={classes['match']}>{texts.matches[match_type]}</div>
    </div>
  )
}

type ResourceLinkProps = { readonly resource: MatchResource; readonly id: string; readonly children: string }

/** Links to the page of the resource, if the portal has one. */
export function ResourceLink({ resource, id, children }: ResourceLinkProps) {
  const text = { size: 'sm', ff: 'monospace', children } as const
  switch (resource) {
    case 'announcement':
      return <TextLink to="/announcements/$id" params={{ id }} {...text} />
    case 'prefix':
      return <TextLink to="/prefixes/$id" params={{ id }} {...text} />
    case 'asn':
      return <TextLink to="/asns/$asn" params={{ asn: id }} {...text} />
    case 'service':
      return <TextLink to="/services/$id" params={{ id }} {...text} />
    case 'port':
      return <TextLink to="/ports/$id" params={{ id }} {...text} />
  }
}
