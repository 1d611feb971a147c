/** What is attested about artifacts: provenance (SLSA 1.0) and the chart's bill of materials (CycloneDX). */
import { parse } from 'yaml'

/** Values of the environment of a GitHub job; absent on other machines. */
export interface BuildEnvironment {
  GITHUB_SERVER_URL?: string
  GITHUB_REPOSITORY?: string
  GITHUB_WORKFLOW_REF?: string
  GITHUB_RUN_ID?: string
  GITHUB_RUN_ATTEMPT?: string
}

/** What an artifact was made from. */
export interface Source {
  /** As in `postwright/postwright`. */
  repository: string
  version: string
  /** Commit, 40 hex digits. */
  revision: string
  /** References of images with digest. */
  images: readonly string[]
}

const SERVER = 'https://github.com'
const BUILD_TYPE = `${SERVER}/postwright/postwright/blob/main/docs/release.md#provenance`

/** The predicate of type https://slsa.dev/provenance/v1. */
export function provenance({ repository, version, revision, images }: Source, environment: BuildEnvironment): object {
  const server = environment.GITHUB_SERVER_URL ?? SERVER
  const source = `git+${server}/${repository}@refs/tags/v${version}`
  return {
    buildDefinition: {
      buildType: BUILD_TYPE,
      externalParameters: { source, version },
      resolvedDependencies: [{ uri: source, digest: { gitCommit: revision } }, ...images.map(imageDependency)],
    },
    runDetails: {
      builder: {
        id: environment.GITHUB_WORKFLOW_REF
          ? `${server}/${environment.GITHUB_WORKFLOW_REF}`
          : `${server}/${repository}/blob/main/docs/release.md#a-machine-of-a-maintainer`,
      },
      ...(environment.GITHUB_RUN_ID
        ? {
            metadata: {
              invocationId: `${server}/${repository}/actions/runs/${environment.GITHUB_RUN_ID}/attempts/${environment.GITHUB_RUN_ATTEMPT ?? '1'}`,
            },
          }
        : {}),
    },
  }
}

/** The chart's materials: the images that it starts. `chart` is the text of Chart.yaml, `digest` that of our image. */
export function chartMaterials(chart: string, digest: string): object {
  const { name, version, annotations } = parse(chart) as ChartFile
  const images = parse(annotations['artifacthub.io/images']) as { name: string; image: string }[]
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', name, version, licenses: [{ license: { id: 'Apache-2.0' } }] } },
    components: images.map(({ name: component, image }) => {
      const { repository, tag } = partsOf(image)
      const own = component === name
      return {
        type: 'container',
        name: component,
        version: tag,
        purl: own
          ? `pkg:oci/${component}@${encodeURIComponent(digest)}?repository_url=${repository}&tag=${tag}`
          : `pkg:oci/${component}?repository_url=${repository}&tag=${tag}`,
      }
    }),
  }
}

interface ChartFile {
  name: string
  version: string
  annotations: { 'artifacthub.io/images': string }
}

function imageDependency(reference: string): object {
  const [name = '', digest = ''] = reference.split('@')
  const [algorithm = '', value = ''] = digest.split(':')
  return value ? { uri: `oci://${name}`, digest: { [algorithm]: value } } : { uri: `oci://${name}` }
}

/** A reference with tag; the host may have a port. */
function partsOf(image: string): { repository: string; tag: string } {
  const colon = image.lastIndexOf(':')
  return { repository: image.slice(0, colon), tag: image.slice(colon + 1) }
}
