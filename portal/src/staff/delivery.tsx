// One delivery of a detector: its result, notes on what could not be read, and the body as received.
import { Code, Group, Skeleton, Stack, Table, Text } from '@mantine/core'
import {
  getDeliveryRoute,
  type IngestDeliveryDetail,
  type IngestState,
} from '@pharos/contract/events/delivery'
import type { NoteSeverity } from '@pharos/contract/events/delivery-note'
import { useAnswer } from '../api/queries.ts'
import { Mono } from '../ui/cells.tsx'
import { CopyIcon } from '../ui/copy.tsx'
import { Problem } from '../ui/problem.tsx'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { words } from './words.ts'

const { detectors: t } = words

export const deliveryShown: Record<IngestState, { readonly label: string; readonly color: StateColor }> = {
  new: { label: t.results.new, color: 'info' },
  done: { label: t.results.done, color: 'ok' },
  partial: { label: t.results.partial, color: 'warn' },
  failed: { label: t.results.failed, color: 'bad' },
}

export const DeliveryBadge = ({ state }: { state: IngestState }) => (
  <StatePill color={deliveryShown[state].color}>{deliveryShown[state].label}</StatePill>
)

/** `id`: of the sender, with its source, or of the row. */
export function DeliveryView({ id, source }: { id: string; source: string | undefined }) {
  const query = source === undefined ? {} : { source_key: source }
  const answer = useAnswer(getDeliveryRoute, { params: { delivery_id: id }, query })
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={answer.refetch} />
  if (!answer.data) return <Skeleton height={240} />
  const { delivery_id, source_key, received, state, event_count, content_type } = answer.data
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <DeliveryBadge state={state} />
        <Text size="sm">
          {source_key} · <Time at={received} />
          {event_count !== null && ` · ${t.eventCount(event_count)}`}
          {content_type !== null && ` · ${content_type}`}
        </Text>
      </Group>
      <Group gap="xs" maw="100%">
        <Text size="xs" ff="monospace" c="dimmed" truncate>
          {delivery_id}
        </Text>
        <CopyIcon text={delivery_id} label={t.copyId} />
      </Group>
      <Notes notes={answer.data.notes} />
      <Text size="sm" fw={600}>
        {t.content}
      </Text>
      <Code block tabIndex={0} mah={360} style={{ overflow: 'auto' }}>
        {contentText(answer.data)}
      </Code>
    </Stack>
  )
}

const severities: Record<NoteSeverity, { readonly label: string; readonly color: 'bad' | 'warn' | 'idle' }> =
  {
    error: { label: t.severities.error, color: 'bad' },
    warning: { label: t.severities.warning, color: 'warn' },
    info: { label: t.severities.info, color: 'idle' },
  }

function Notes({ notes }: Pick<IngestDeliveryDetail, 'notes'>) {
  if (notes.length === 0) return null
  return (
    <Table.ScrollContainer minWidth={420}>
      <Table fz="sm">
        <Table.Thead>
          <Table.Tr>
            {t.noteColumns.map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {notes.map(({ severity, place, code, message }) => (
            <Table.Tr key={`${severity} ${place} ${code}`}>
              <Table.Td>
                <StatePill color={severities[severity].color}>{severities[severity].label}</StatePill>
              </Table.Td>
              <Table.Td>{place === '' ? t.whole : <Mono>{place}</Mono>}</Table.Td>
              <Table.Td>{message}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

/** Adds line breaks to JSON; returns other content unchanged. */
function contentText({ content, content_encoding }: IngestDeliveryDetail): string {
  if (content_encoding === 'base64') return `${t.notText}\n${content}`
  try {
    return JSON.stringify(JSON.parse(content), undefined, 2)
  } catch {
    return content
  }
}
