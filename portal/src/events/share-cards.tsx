// Where the traffic comes from and goes to, as bars with names.
import { Text } from '@mantine/core'
import type { ParsedData } from '@pharos/contract/events/event'
import { Bars } from '../charts/bars.tsx'
import { Section } from '../ui/section.tsx'
import classes from './events.module.css'
import { shareCards } from './shares.ts'
import { words } from './words.ts'

const { shares: texts } = words

export function ShareCards({ parsed }: { parsed: ParsedData }) {
  const cards = shareCards(parsed)
  if (cards.length === 0) return null
  return (
    <div className={classes['shares']}>
      {cards.map(({ kind, shares, names }) => (
        <Section key={kind} title={texts[kind]} fill>
          {shares ? (
            <>
              <Bars label={texts[kind]} items={shares.items} unit={shares.unit} isMono />
              <Text size="xs" c="dimmed" mt="sm">
                {texts.ofReported}
              </Text>
            </>
          ) : (
            <>
              <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                {names}
              </Text>
              <Text size="xs" c="dimmed" mt="sm">
                {texts.noAmounts}
              </Text>
            </>
          )}
        </Section>
      ))}
    </div>
  )
}
