// The team's resources that an event affects, and how they match. The API's detail has no relationships, its list does.
import { Group, Skeleton, Stack, Text } from '@mantine/core'
import {
  listRelatedEventsRoute,
  type MatchResource,
  type MatchType,
  type RelatedEventDetail,
  type Relationship,
} from '@pharos/contract/analysis'
import { useAnswer } from '../api/queries.ts'
import { TextLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'

const resourceLabels: Record<MatchResource, string> = {
  announcement: 'Announcement',
  prefix: 'Prefix',
  service: 'Service',
  port: 'Port',
  asn: 'ASN',
}

const matchLabels: Record<MatchType, string> = {
  exact: 'exact target',
  covers: 'covers the target',
  covered_by: 'inside the target',
  origin_asn: 'origin AS of the target',
  source_resource: 'reported by the detector',
}

export function AffectedResources({ event }: { event: RelatedEventDetail }) {
  const { affected_network, start } = event
  // The events of the network that were ongoing at its start: a few, and this one among them.
  const answer = useAnswer(listRelatedEventsRoute, {
    query: { affected_network, start, end: start, limit: 1000 },
  })
  const relationships = answer.data?.results.find(({ id }) => id === event.id)?.relationships
  return (
    <Section title="Affected resources" fill>
      <Stack gap={6}>
        {answer.isPending && <Skeleton height={40} />}
        {answer.error && !answer.data && <Problem error={answer.error} />}
        {relationships?.map((relationship) => (
          <Resource key={relationship.id} relationship={relationship} />
        ))}
        {answer.data && !relationships && (
          <Text size="sm" c="dimmed">
            No longer linked to your resources.
          </Text>
        )}
      </Stack>
    </Section>
  )
}

function Resource({ relationship }: { relationship: Relationship }) {
  const {
    match_resource,
    match_resouce_name: name,
    match_type,
    match_value,
    match_resource_link,
  } = relationship
  return (
    <Group gap="xs" align="baseline">
      <Text size="xs" c="dimmed" w={92}>
        {resourceLabels[match_resource]}
      </Text>
      <ResourceLink resource={match_resource} id={match_resource_link.split('/').at(-1)!}>
        {name}
      </ResourceLink>
      {name !== match_value && (
        <Text size="sm" ff="monospace">
          {match_resource === 'asn' ? `AS${match_value}` : match_value}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {matchLabels[match_type]}
      </Text>
    </Group>
  )
}

type ResourceLinkProps = { readonly resource: MatchResource; readonly id: string; readonly children: string }

/** Links to the page of the resource, if the portal has one. */
function ResourceLink({ resource, id, children }: ResourceLinkProps) {
  const text = { size: 'sm', fw: 500, children } as const
  switch (resource) {
    case 'announcement':
      return <TextLink to="/announcements/$id" params={{ id }} {...text} />
    case 'prefix':
      return <TextLink to="/prefixes/$id" params={{ id }} {...text} />
    case 'asn':
      return <TextLink to="/asns/$asn" params={{ asn: id }} {...text} />
    case 'service':
    case 'port':
      return <Text {...text} />
  }
}
