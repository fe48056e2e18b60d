// The bubble of a hint, with what places it: loaded when the first one is wanted.
import { Tooltip } from '@mantine/core'

export const Bubble = ({ target, label }: { target: HTMLElement; label: string }) => (
  <Tooltip opened target={target} label={label} />
)
