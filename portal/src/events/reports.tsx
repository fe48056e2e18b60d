// The events of an attack that several detectors report, or that one detector reports repeatedly. Each opens with its own timeline.
import { Table, Text } from '@mantine/core'
import type { IncidentDetail } from '@pharos/contract/events/incident'
import { Dimmed } from '../ui/cells.tsx'
import { TextLink } from '../ui/link.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { detectorName } from './detector-name.ts'
import { networkText } from './network-text.ts'
import { words } from './words.ts'

const { page: texts } = words
const { columns } = words.list

export function Reports({ incident, shownId }: { incident: IncidentDetail; shownId: string }) {
  const { sources, event_count: count, events } = incident
  return (
    <Section title={texts.reports}>
      <Text size="sm" c="dimmed" mb="xs">
        {texts.reportedBy(sources.length, count)}
      </Text>
      <Table.ScrollContainer minWidth={420}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              {[columns.source, columns.network, columns.bps, columns.start, columns.end].map((head) => (
                <Table.Th key={head}>{head}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {events.map(
              ({ id, source_key: source, affected_network: network, affected_bps: bps, start, end }) => (
                <Table.Tr key={id}>
                  <Table.Td>
                    {id === shownId ? (
                      <>
                        {detectorName(source)} <Dimmed>{texts.shownReport}</Dimmed>
                      </>
                    ) : (
                      <TextLink to="/events/$id" params={{ id }} size="sm">
                        {detectorName(source)}
                      </TextLink>
                    )}
                  </Table.Td>
                  <Table.Td ff="monospace">{networkText(network)}</Table.Td>
                  <Table.Td>{bps > 0 ? formatRate(bps, 'bps') : '–'}</Table.Td>
                  <Table.Td>
                    <Time at={start} />
                  </Table.Td>
                  <Table.Td>
                    <Time at={end} none={columns.ongoing} />
                  </Table.Td>
                </Table.Tr>
              ),
            )}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  )
}
