// Text to copy elsewhere: a route object, a ROA, a record, a token.
import { ActionIcon, Code, CopyButton, Group, VisuallyHidden } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { LazyTooltip } from './lazy-tooltip.tsx'
import { words } from './words.ts'

export function CopyIcon({ text, label = 'Copy' }: { text: string; label?: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <LazyTooltip label={() => (copied ? words.copied : label)}>
          <ActionIcon onClick={copy} aria-label={label} size="sm">
            {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
          </ActionIcon>
          <VisuallyHidden role="status">{copied ? words.copied : ''}</VisuallyHidden>
        </LazyTooltip>
      )}
    </CopyButton>
  )
}

/** `shown` is in place of the text, which contains a secret. */
export function CopyBlock({ text, shown, label }: { text: string; shown?: string; label?: string }) {
  return (
    <Group align="flex-start" gap="xs" wrap="nowrap">
      <Code block style={{ flex: 1, overflowX: 'auto' }} tabIndex={0}>
        {shown ?? text}
      </Code>
      <CopyIcon text={text} {...(label === undefined ? {} : { label })} />
    </Group>
  )
}
