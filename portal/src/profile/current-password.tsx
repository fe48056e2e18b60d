// The password that a change of one's account asks for again.
import { PasswordInput, type PasswordInputProps } from '@mantine/core'

export const CurrentPassword = (props: PasswordInputProps) => (
  <PasswordInput label="Current password" autoComplete="current-password" required {...props} />
)
