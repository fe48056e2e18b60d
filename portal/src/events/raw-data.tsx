// The detector's original data, collapsed, to read, copy or download.
import { Button, Code, CopyButton, Group, ScrollArea, Text } from '@mantine/core'
import type { RelatedEventDetail } from '@pharos/contract/events/event'
import { IconCheck, IconCopy, IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { download } from '../ui/export-file.ts'
import { Section } from '../ui/section.tsx'
import { words } from './words.ts'

const { raw: texts } = words

type DownloadJsonProps = {
  readonly event: RelatedEventDetail
  /** The event or a part of it. */
  readonly content: unknown
  readonly children: string
}

export function DownloadJson({ event, content, children }: DownloadJsonProps) {
  const { id, source_event_id } = event
  const name = `event-${(source_event_id || id).replaceAll(/[^\w.-]+/g, '_').slice(0, 80)}.json`
  const json = JSON.stringify(content, undefined, 2)
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={14} />}
      onClick={() => download(name, new Blob([json], { type: 'application/json' }))}
    >
      {children}
    </Button>
  )
}

export function RawData({ event }: { event: RelatedEventDetail }) {
  const [isShown, setShown] = useState(false)
  const { source } = event.parsed_data
  if (!source) return null
  const text = JSON.stringify(source, undefined, 2)
  return (
    <Section
      title={texts.title}
      actions={
        <Group gap="xs">
          <CopyButton value={text}>
            {({ copied, copy }) => (
              <Button
                variant="default"
                leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
                onClick={copy}
              >
                {copied ? texts.copied : texts.copy}
              </Button>
            )}
          </CopyButton>
          <DownloadJson event={event} content={source}>
            {texts.download}
          </DownloadJson>
          <Button variant="default" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
            {isShown ? texts.hide : texts.show}
          </Button>
        </Group>
      }
    >
      {isShown ? (
        <ScrollArea.Autosize
          mah={360}
          viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': texts.label }}
        >
          <Code block>{text}</Code>
        </ScrollArea.Autosize>
      ) : (
        <Text size="sm" c="dimmed">
          {texts.collapsed}
        </Text>
      )}
    </Section>
  )
}
