// The theme: dense, the same in light and dark, with colours that stay distinct for colour-blind users.
import { setNonce } from 'get-nonce'
import { createTheme, type CSSVariablesResolver } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'indigo',
  respectReducedMotion: true,
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: 'sm',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.25rem' }, h2: { fontSize: '1rem' }, h3: { fontSize: '0.875rem' } },
  },
  // By name, not by import: the first view does not load components that it does not show.
  components: {
    Table: {
      defaultProps: { verticalSpacing: 6, horizontalSpacing: 'sm', fz: 'sm', highlightOnHover: true },
    },
    TextInput: { defaultProps: { size: 'sm' } },
    // No target is smaller than 24 px (WCAG 2.2, 2.5.8), however small it looks beside its neighbours.
    Button: {
      defaultProps: { size: 'xs' },
      vars: (_theme: unknown, { size }: { size?: string }) =>
        size === 'compact-xs' ? { root: { '--button-height': '24px' } } : {},
    },
    // Badges are never truncated: their column is as wide as the longest.
    Badge: {
      defaultProps: { radius: 'sm', variant: 'light', tt: 'none', fw: 500 },
      styles: { root: { overflow: 'visible', flexShrink: 0 }, label: { overflow: 'visible' } },
    },
    // In the dark theme the default background would be that of cards.
    Code: {
      styles: {
        root: {
          backgroundColor: 'light-dark(var(--mantine-color-gray-1), var(--mantine-color-dark-8))',
        },
      },
    },
    Card: { defaultProps: { withBorder: true, padding: 'md' } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 300 } },
    // A button without text needs a name.
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close this message' } } },
    ActionIcon: {
      defaultProps: { variant: 'subtle', color: 'gray' },
      vars: (_theme: unknown, { size }: { size?: string }) =>
        size === 'sm' ? { root: { '--ai-size': '24px' } } : {},
    },
  },
})

/** The colours of states. Their text has WCAG's contrast of 4.5 to 1 in both themes. */
const stateColors = ['gray', 'red', 'orange', 'yellow', 'teal', 'cyan', 'blue', 'indigo'] as const

const textColors = (color: (name: string) => string): Record<string, string> =>
  Object.fromEntries(stateColors.map((name) => [`--mantine-color-${name}-light-color`, color(name)]))

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    ...textColors((name) => `color-mix(in srgb, var(--mantine-color-${name}-9), black 35%)`),
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    ...textColors((name) => `color-mix(in srgb, var(--mantine-color-${name}-2), white 20%)`),
  },
})

/** Returns the nonce that the server writes into the page, for the styles that Mantine adds. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}

// Another library adds the style that stops the page behind a dialog from scrolling.
setNonce(styleNonce())
