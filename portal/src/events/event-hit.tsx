// What of the team an event hit, and why it counts as hit: the detail names no relationships, the list does.
import { Anchor, Card, Group, Skeleton, Stack, Text } from '@mantine/core'
import {
  listRelatedEventsRoute,
  type MatchType,
  type RelatedEventDetail,
  type Relationship,
} from '@pharos/contract/analysis'
import { Link } from '@tanstack/react-router'
import { useAnswer } from '../api/queries.ts'
import { Problem } from '../ui/problem.tsx'

const why: Record<MatchType, string> = {
  exact: 'is what was attacked',
  covers: 'covers the target',
  covered_by: 'is inside the target',
  origin_asn: 'originates what was attacked',
  source_resource: 'was named by the detector',
}

export function EventHit({ event }: { event: RelatedEventDetail }) {
  const { affected_network, start } = event
  // Those of the network that went on when it began: a few, and this one among them.
  const answer = useAnswer(listRelatedEventsRoute, {
    query: { affected_network, start, end: start, limit: 1000 },
  })
  const relationships = answer.data?.results.find(({ id }) => id === event.id)?.relationships
  return (
    <Card component="section" aria-label="What it hit" h="100%">
      <Text fw={600} size="sm" mb="xs">
        What it hit
      </Text>
      <Stack gap={6}>
        {answer.isPending && <Skeleton height={40} />}
        {answer.error && !answer.data && <Problem error={answer.error} />}
        {relationships?.map((relationship) => (
          <Hit key={relationship.id} relationship={relationship} />
        ))}
        {answer.data && !relationships && (
          <Text size="sm" c="dimmed">
            It is not among the events of this network any more.
          </Text>
        )}
      </Stack>
    </Card>
  )
}

function Hit({ relationship }: { relationship: Relationship }) {
  const {
    match_resource,
    match_resouce_name: name,
    match_type,
    match_value,
    match_resource_link,
  } = relationship
  const id = match_resource === 'announcement' ? match_resource_link.split('/').at(-1) : undefined
  return (
    <Group gap="xs" align="baseline">
      <Text size="xs" c="dimmed" w={92}>
        {match_resource}
      </Text>
      {id === undefined ? (
        <Text size="sm" fw={500}>
          {name}
        </Text>
      ) : (
        <Anchor component={Link} to={`/announcements/${id}` as never} size="sm" fw={500}>
          {name}
        </Anchor>
      )}
      {name !== match_value && (
        <Text size="sm" ff="monospace">
          {match_resource === 'asn' ? `AS${match_value}` : match_value}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {why[match_type]}
      </Text>
    </Group>
  )
}
