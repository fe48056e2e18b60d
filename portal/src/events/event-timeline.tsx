// The timeline of an attack: its steps as a list.
import { Text, Timeline } from '@mantine/core'
import {
  IconArrowUp,
  IconCheck,
  IconEye,
  IconFilter,
  IconMessage,
  IconPlayerPlay,
  IconShieldCheck,
} from '@tabler/icons-react'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import type { Step, StepKind } from './timeline.ts'
import { words } from './words.ts'

export const EventTimeline = ({ steps }: { readonly steps: readonly Step[] }) => (
  <Section title={words.timeline.title}>
    <Steps steps={steps} />
  </Section>
)

const icons: Record<StepKind, { readonly icon: typeof IconEye; readonly color: string }> = {
  started: { icon: IconPlayerPlay, color: 'bad' },
  detected: { icon: IconEye, color: 'idle' },
  ongoing: { icon: IconEye, color: 'idle' },
  peak: { icon: IconArrowUp, color: 'warn' },
  mitigation: { icon: IconShieldCheck, color: 'ok' },
  rules: { icon: IconFilter, color: 'ok' },
  feedback: { icon: IconMessage, color: 'info' },
  ended: { icon: IconCheck, color: 'idle' },
}

function Steps({ steps }: { steps: readonly Step[] }) {
  return (
    <Timeline bulletSize={20} lineWidth={2} active={steps.length}>
      {steps.map(({ at, kind, text, note }) => {
        const { icon: Icon, color } = icons[kind]
        return (
          <Timeline.Item
            key={`${at} ${text}`}
            title={
              <Text span size="sm" fw={500}>
                {text}
              </Text>
            }
            bullet={<Icon size={12} aria-hidden />}
            color={color}
          >
            <Text size="xs" c="dimmed" component="div">
              <Time at={at} />
              {note && ` · ${note}`}
            </Text>
          </Timeline.Item>
        )
      })}
    </Timeline>
  )
}
