// The detector's original data, to read, copy or download.
import { Button, Code, CopyButton, Group, ScrollArea } from '@mantine/core'
import type { RelatedEventDetail } from '@pharos/contract/analysis'
import { IconCheck, IconCopy, IconDownload } from '@tabler/icons-react'
import { download } from '../ui/export-file.ts'
import { Section } from '../ui/section.tsx'

export function RawData({ event }: { event: RelatedEventDetail }) {
  const { source } = event.parsed_data
  if (!source) return null
  const text = JSON.stringify(source, undefined, 2)
  const filename = `event-${event.source_event_id.replaceAll(/[^\w.-]+/g, '_').slice(0, 80)}.json`
  return (
    <Section
      title="Raw detector data"
      actions={
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
      }
    >
      <ScrollArea.Autosize
        mah={360}
        viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': 'Raw data' }}
      >
        <Code block>{text}</Code>
      </ScrollArea.Autosize>
    </Section>
  )
}
