// The detector's original data, collapsed, to read, copy or download.
import { Button, Code, CopyButton, Group, ScrollArea, Text } from '@mantine/core'
import type { RelatedEventDetail } from '@pharos/contract/analysis'
import { IconCheck, IconCopy, IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { download } from '../ui/export-file.ts'
import { Section } from '../ui/section.tsx'
import { words } from './words.ts'

const { raw: texts } = words

export const fileNameOf = ({ source_event_id, id }: RelatedEventDetail): string =>
  `event-${(source_event_id || id).replaceAll(/[^\w.-]+/g, '_').slice(0, 80)}.json`

export const downloadJson = (name: string, value: unknown): void =>
  download(name, new Blob([JSON.stringify(value, undefined, 2)], { type: 'application/json' }))

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
          <Button
            variant="default"
            leftSection={<IconDownload size={14} />}
            onClick={() => downloadJson(fileNameOf(event), source)}
          >
            {texts.download}
          </Button>
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
