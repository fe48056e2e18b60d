// Reports whether the window is as narrow as a phone: lists show cards there, and fields open as sheets.
import { useMediaQuery } from '@mantine/hooks'

export const useIsPhone = (): boolean =>
  useMediaQuery('(max-width: 40em)', false, { getInitialValueInEffect: false })
