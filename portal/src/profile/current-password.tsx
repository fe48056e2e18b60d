// The current password, which changes of the account require.
import { PasswordInput, type PasswordInputProps } from '@mantine/core'

export const CurrentPassword = (props: PasswordInputProps) => (
  <PasswordInput label="Current password" autoComplete="current-password" required {...props} />
)
