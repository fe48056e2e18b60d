// The drawing of a traffic view with the attacks and the changes of announcements of its time and its network.
import { Text } from '@mantine/core'
import type { ComponentProps } from 'react'
import { TextLink } from '../ui/link.tsx'
import type { Span } from '../ui/time-range.ts'
import { useIsPhone } from '../ui/use-is-phone.ts'
import { useMarks } from './marks.ts'
import { Picture } from './picture.tsx'
import type { TrafficView } from './traffic-view.ts'
import { words } from './words.ts'

const { picture: texts } = words

type MarkedPictureProps = Omit<ComponentProps<typeof Picture>, 'marks'> & {
  readonly span: Span
  /** False: the page names the attacks elsewhere. */
  readonly hasMarks?: boolean
}

export function MarkedPicture({ span, hasMarks = true, ...picture }: MarkedPictureProps) {
  const isPhone = useIsPhone()
  const network = networkOf(picture.view)
  const { marks, unmarked, error } = useMarks(span, network, isPhone ? 2 : 6, hasMarks)
  return (
    <>
      <Picture {...picture} marks={marks} />
      {unmarked > 0 && (
        <TextLink
          to="/events"
          search={{
            from: span.start,
            to: span.end,
            ...(network === undefined ? {} : { affected_network: network }),
          }}
          size="xs"
        >
          {texts.more(unmarked)}
        </TextLink>
      )}
      {error !== null && error !== undefined && (
        <Text size="xs" c="bad" role="alert">
          {texts.marksFailed}
        </Text>
      )}
    </>
  )
}

/** The network that the view is limited to. */
export const networkOf = ({ filters }: Pick<TrafficView, 'filters'>): string | undefined =>
  filters.find(
    ({ key, op }) => /^(prefix|local_address|dst_address)$/.test(key) && (op === 'eq' || op === 'within'),
  )?.values[0]
