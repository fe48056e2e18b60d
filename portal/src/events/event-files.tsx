// The files about an event: captures, texts of the detector, and flows. A file is deleted after some time; its name stays.
import { Anchor, Text } from '@mantine/core'
import { listEventAttachmentsRoute } from '@pharos/contract/events/event-attachment'
import { Mono } from '../ui/cells.tsx'
import { formatRate } from '../ui/rate.ts'
import { FailedSection } from '../ui/failed-section.tsx'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { useAllRows } from '../ui/use-all-rows.ts'
import classes from './events.module.css'
import { words } from './words.ts'

const { files: texts } = words
/** Links work for ten minutes. */
const refetchMs = 300_000

/** Renders only if there are files. */
export function EventFiles({ eventId }: { readonly eventId: string }) {
  const answer = useAllRows(listEventAttachmentsRoute, { params: { event_id: eventId } }, refetchMs)
  if (answer.error && !answer.data) return <FailedSection title={texts.title} answer={answer} />
  const files = answer.data ?? []
  if (files.length === 0) return null
  return (
    <Section title={texts.title}>
      <ul className={classes['comments']}>
        {files.map(({ id, filename, kind, description, size, created, url }) => (
          <li key={id}>
            {url === null ? (
              <Mono>{filename}</Mono>
            ) : (
              <Anchor href={pathOf(url)} download={filename} size="sm" underline="always" ff="monospace">
                {filename}
              </Anchor>
            )}
            <Text size="xs" c="dimmed">
              {[texts.kinds[kind], description, url === null ? texts.deleted : formatRate(size, 'B')]
                .filter(Boolean)
                .join(' · ')}{' '}
              · <Time at={created} />
            </Text>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** The file is served by the page's own server, whatever name it is known by. */
const pathOf = (url: string): string => {
  const { pathname, search } = new URL(url, location.origin)
  return pathname + search
}
