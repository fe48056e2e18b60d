// The two buttons of a decision, with their keys: a approves, r rejects, each after a confirmation.
import { Button, Kbd } from '@mantine/core'
import { useEffect, type ReactNode } from 'react'
import { isHandledElsewhere } from '../ui/key-events.ts'
import { words } from './words.ts'

type DecisionButtonProps = {
  readonly label: string
  readonly shortcut: 'a' | 'r'
  readonly isPrimary?: boolean
  readonly disabled?: boolean
  readonly onClick: () => void
}

/** A button that a key presses as well. */
export const DecisionButton = ({
  label,
  shortcut,
  isPrimary = false,
  disabled = false,
  onClick,
}: DecisionButtonProps): ReactNode => (
  <Button
    variant={isPrimary ? 'filled' : 'default'}
    disabled={disabled}
    aria-keyshortcuts={shortcut}
    data-decision={shortcut}
    rightSection={
      <Kbd size="xs" aria-hidden visibleFrom="sm">
        {shortcut.toUpperCase()}
      </Kbd>
    }
    onClick={onClick}
  >
    {label}
  </Button>
)

/** The action and the button of a dialog that approves or rejects. */
export const decisionProps = (isApproval: boolean) => ({
  action: isApproval ? words.approve : words.reject,
  trigger: (open: () => void) => (
    <DecisionButton
      label={isApproval ? words.approve : words.reject}
      shortcut={isApproval ? 'a' : 'r'}
      isPrimary={isApproval}
      onClick={open}
    />
  ),
})

/** Presses the page's decision buttons by their keys. */
export function useDecisionKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isHandledElsewhere(event) || (event.key !== 'a' && event.key !== 'r')) return
      const button = [...document.querySelectorAll<HTMLButtonElement>(`[data-decision="${event.key}"]`)].find(
        (one) => one.checkVisibility(),
      )
      if (!button || button.disabled) return
      event.preventDefault()
      button.click()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}
