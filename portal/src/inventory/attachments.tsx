// The files of the provider about a device.
import { Anchor } from '@mantine/core'
import { listDeviceAttachmentsRoute } from '@pharos/contract/inventory/attachment'
import { FailedSection } from '../ui/failed-section.tsx'
import { Facts } from '../ui/facts.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { useAllRows } from '../ui/use-all-rows.ts'
import { fileHref } from '../ui/file-href.ts'
import { words } from './words.ts'

const { attachments: texts } = words
/** Links work for ten minutes. */
const refetchMs = 300_000

export function DeviceAttachments({ deviceId }: { deviceId: number }) {
  const answer = useAllRows(listDeviceAttachmentsRoute, { params: { device_id: deviceId } }, refetchMs)
  if (answer.error && !answer.data) return <FailedSection title={texts.title} answer={answer} />
  const files = answer.data ?? []
  if (files.length === 0) return null
  return (
    <Section title={texts.title}>
      <Facts
        facts={files.map(({ id, filename, description, size, created, url }) => [
          '',
          <span key={id}>
            <Anchor href={fileHref(url)} download size="sm" underline="always">
              {filename}
            </Anchor>{' '}
            {[description, formatRate(size, 'B')].filter(Boolean).join(' · ')} · <Time at={created} />
          </span>,
        ])}
      />
    </Section>
  )
}
