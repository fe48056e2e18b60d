// The detector's own words, to be read, copied, or taken along as a file.
import { Button, Card, Code, CopyButton, Group, ScrollArea, Text } from '@mantine/core'
import type { RelatedEventDetail } from '@pharos/contract/analysis'
import { IconCheck, IconCopy, IconDownload } from '@tabler/icons-react'
import { download } from '../ui/download.ts'

export function EventSource({ event }: { event: RelatedEventDetail }) {
  const { source } = event.parsed_data
  if (!source) return null
  const text = JSON.stringify(source, undefined, 2)
  const filename = `event-${event.source_event_id.replaceAll(/[^\w.-]+/g, '_').slice(0, 80)}.json`
  return (
    <Card component="section" aria-label="Raw data">
      <Group justify="space-between" mb="xs">
        <Text fw={600} size="sm">
          What the detector sent
        </Text>
        <Group gap="xs">
          <CopyButton value={text}>
            {({ copied, copy }) => (
              <Button
                variant="default"
                leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
                onClick={copy}
              >
                {copied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </CopyButton>
          <Button
            variant="default"
            leftSection={<IconDownload size={14} />}
            onClick={() => download(filename, new Blob([text], { type: 'application/json' }))}
          >
            Download
          </Button>
        </Group>
      </Group>
      <ScrollArea.Autosize mah={360} viewportProps={{ tabIndex: 0, 'aria-label': 'Raw data' }}>
        <Code block>{text}</Code>
      </ScrollArea.Autosize>
    </Card>
  )
}
