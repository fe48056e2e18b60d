// The password that a change of one's account asks for once more.
import { PasswordInput } from '@mantine/core'

type CurrentPasswordProps = {
  readonly value: string
  readonly onChange: (value: string) => void
  /** The first field of its dialog, where one begins to type. */
  readonly first?: boolean
}

export const CurrentPassword = ({ value, onChange, first = false }: CurrentPasswordProps) => (
  <PasswordInput
    label="Current password"
    autoComplete="current-password"
    required
    data-autofocus={first || undefined}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
)
