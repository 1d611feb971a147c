/** Theme of the panel. Every text colour meets the contrast of WCAG 2.2 AA on its background. */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

/** Primary colour: petrol. */
const ink: MantineColorsTuple = [
  '#edf6f7',
  '#d9eaec',
  '#b2d5d9',
  '#86bec5',
  '#5fa9b3',
  '#3b8f9b',
  '#237987',
  '#1a6471',
  '#17535e',
  '#0f3b44',
]

/** Vermilion, for destructive actions and errors. */
const stamp: MantineColorsTuple = [
  '#fff0ec',
  '#fddfd7',
  '#f9bcad',
  '#f59780',
  '#ee7759',
  '#e2593b',
  '#c8442a',
  '#ad3820',
  '#8c2d1a',
  '#6a2113',
]

/** Greys of the dark scheme, from text to the darkest background. */
const dark: MantineColorsTuple = [
  '#e3e8e8',
  '#c3cdcf',
  '#a3b0b3',
  '#6f7e83',
  '#3a484e',
  '#2c393f',
  '#1b2429',
  '#161d21',
  '#11181b',
  '#0c1214',
]

const sans =
  "'Geist Variable', system-ui, -apple-system, 'Segoe UI', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif"

export const theme = createTheme({
  colors: { ink, stamp, dark },
  primaryColor: 'ink',
  primaryShade: { light: 7, dark: 7 },
  fontFamily: sans,
  fontFamilyMonospace: "'Geist Mono Variable', ui-monospace, 'SFMono-Regular', Menlo, Consolas, monospace",
  headings: { fontFamily: sans, fontWeight: '600' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'sm' } },
    Modal: { defaultProps: { centered: true, radius: 'lg', padding: 'lg' } },
    // The service refuses a number outside of its bounds with a sentence; the field must not change it silently.
    NumberInput: { defaultProps: { clampBehavior: 'none' } },
    // The arrow beside a clear button would lie over the text.
    Select: { defaultProps: { clearSectionMode: 'clear' } },
    MultiSelect: { defaultProps: { clearSectionMode: 'clear' } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 250, events: { hover: true, focus: true, touch: true } } },
    Paper: { defaultProps: { radius: 'lg' } },
  },
})

/** Replaces Mantine's colours with insufficient contrast for AA, and defines the backgrounds of both schemes. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-body': '#ffffff',
    '--mantine-color-text': '#1b2a2e',
    '--mantine-color-dimmed': '#566469',
    '--mantine-color-placeholder': '#66747a',
    '--mantine-color-default-border': '#dfe3e0',
    '--mantine-color-error': '#b3361d',
    '--mantine-color-anchor': '#1a6471',
    '--pw-ground': '#f6f5f0',
    '--pw-surface': '#ffffff',
    '--pw-sunken': '#f3f3ee',
    '--pw-line': '#e4e5df',
    '--pw-ok': '#17653a',
    '--pw-ok-wash': '#e2f3e8',
    '--pw-warn': '#7d4b00',
    '--pw-warn-wash': '#fdf0d3',
    '--pw-bad': '#a32f18',
    '--pw-bad-wash': '#fde6e0',
    '--pw-info': '#17535e',
    '--pw-info-wash': '#e0eff1',
    '--pw-quiet': '#4d5a5f',
    '--pw-quiet-wash': '#eceeea',
  },
  dark: {
    '--mantine-color-body': '#161d21',
    '--mantine-color-text': '#e3e8e8',
    '--mantine-color-dimmed': '#a3b0b3',
    '--mantine-color-placeholder': '#8b999d',
    '--mantine-color-default': '#1b2429',
    '--mantine-color-default-hover': '#222d33',
    '--mantine-color-default-border': '#344249',
    '--mantine-color-error': '#f59780',
    '--mantine-color-anchor': '#86c9d2',
    '--pw-ground': '#0f1518',
    '--pw-surface': '#161d21',
    '--pw-sunken': '#11181b',
    '--pw-line': '#263238',
    '--pw-ok': '#8bd8a8',
    '--pw-ok-wash': '#16311f',
    '--pw-warn': '#f0c777',
    '--pw-warn-wash': '#382a0d',
    '--pw-bad': '#f7a692',
    '--pw-bad-wash': '#3d1c14',
    '--pw-info': '#93d0d8',
    '--pw-info-wash': '#12313a',
    '--pw-quiet': '#b3bfc2',
    '--pw-quiet-wash': '#232e33',
  },
})
