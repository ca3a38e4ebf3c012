/* A step of weakly compressible SPH by a linked list, in plain C on one core: what our first rung is compared with.

   cc -O3 -march=native sph_linked_list.c -o sph_linked_list -lm
   ./sph_linked_list NX NY NZ TANK_X TANK_Y RATIO STEPS

   The case is the paper's as sph.cases.DamBreak.of_paper reads it: a column of NX x NY x NZ particles a spacing apart in
   a tank of TANK_X x TANK_Y x NZ spacings, open above, with one layer of ghosts. The sums are those of our solver: of
   equation 4 axis by axis, with pairs where they were half a step before, and of equation 6 with artificial viscosity and
   density diffusion; Wendland's C2 kernel, smoothing length RATIO spacings. Numbers are in single precision, the sums of
   a particle in double. Units are spacings.

   Prints one line: fluid, ghosts, mean neighbours, and the least CPU time (ms) of so many repetitions of: building the
   list, density, the pass over ghosts, forces, and density and forces with each pair of fluid met once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    int count;
    float *x, *y, *z, *u, *v, *w, *pressure; /* positions, velocities, pressure */
    int *first, *next;                       /* of each cell, of each particle; -1 ends a list */
} Species;

typedef struct { float e[3], square; } Separation;

/* in smoothing lengths over the velocities that are made up here */
#define HALF_STEP 1e-3f

static int cells[3];
static float origin, width, inverse_length, ratio;
static long met;

static float uniform(void) { return rand() / (float)RAND_MAX; }

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * t.tv_sec + 1e-6 * t.tv_nsec;
}

static Species make(int count)
{
    Species s = {.count = count};
    float **arrays[] = {&s.x, &s.y, &s.z, &s.u, &s.v, &s.w, &s.pressure};
    for (int k = 0; k < 7; k++) *arrays[k] = calloc(count, sizeof(float));
    s.first = malloc(sizeof(int) * cells[0] * cells[1] * cells[2]);
    s.next = malloc(sizeof(int) * count);
    return s;
}

static int along(float x) { return (int)((x - origin) / width); }
static int number(int cx, int cy, int cz) { return (cz * cells[1] + cy) * cells[0] + cx; }

static void build(Species *s)
{
    memset(s->first, -1, sizeof(int) * cells[0] * cells[1] * cells[2]);
    for (int i = s->count - 1; i >= 0; i--) {
        int c = number(along(s->x[i]), along(s->y[i]), along(s->z[i]));
        s->next[i] = s->first[c];
        s->first[c] = i;
    }
}

static inline Separation between(float x, float y, float z, const Species *s, int j)
{
    Separation d = {{(x - s->x[j]) * inverse_length, (y - s->y[j]) * inverse_length, (z - s->z[j]) * inverse_length}, 0};
    d.square = d.e[0] * d.e[0] + d.e[1] * d.e[1] + d.e[2] * d.e[2];
    return d;
}

static inline float kernel(float q) { float a = 1 - 0.5f * q; return a * a * a * a * (2 * q + 1); }
static inline float slope(float q) { float a = 1 - 0.5f * q; return -5 * a * a * a; }

/* What j adds to equation 4 of a particle along each axis, and to equation 6 and density diffusion. */
static inline void divergence(const Species *f, int i, const Species *s, int j, Separation d, float *axes)
{
    float du[] = {f->u[i] - s->u[j], f->v[i] - s->v[j], f->w[i] - s->w[j]}, e[3], square = 0;
    for (int k = 0; k < 3; k++) {
        e[k] = d.e[k] - HALF_STEP * du[k];
        square += e[k] * e[k];
    }
    float steep = slope(fminf(sqrtf(square), 2));
    met++;
    for (int k = 0; k < 3; k++) axes[k] = steep * e[k] * du[k];
}

static inline float push(const Species *f, int i, const Species *s, int j, Separation d, float *diffusion)
{
    float approach = d.e[0] * (f->u[i] - s->u[j]) + d.e[1] * (f->v[i] - s->v[j]) + d.e[2] * (f->w[i] - s->w[j]);
    float viscous = -8850 * fminf(approach, 0) / (d.square + 0.01f), steep = slope(sqrtf(d.square));
    *diffusion = -steep * (s->pressure[j] - f->pressure[i] - 9.81f * d.e[2]);
    return -(f->pressure[i] + s->pressure[j] + viscous) * steep;
}

#define FOR_CELLS_AROUND(x, y, z) \
    for (int cz = along(z) - 1, ez = cz + 3; cz < ez; cz++) \
        for (int cy = along(y) - 1, ey = cy + 3; cy < ey; cy++) \
            for (int cx = along(x) - 1, ex = cx + 3; cx < ex; cx++)

static void density(const Species *f, const Species *g, float *rate)
{
    for (int i = 0; i < f->count; i++) {
        float x = f->x[i], y = f->y[i], z = f->z[i];
        double sum[3] = {0};
        float axes[3];
        FOR_CELLS_AROUND(x, y, z)
            for (int kind = 0; kind < 2; kind++) {
                const Species *s = kind ? g : f;
                for (int j = s->first[number(cx, cy, cz)]; j >= 0; j = s->next[j]) {
                    Separation d = between(x, y, z, s, j);
                    if (d.square >= 4) continue;
                    divergence(f, i, s, j, d, axes);
                    for (int m = 0; m < 3; m++) sum[m] += axes[m];
                }
            }
        rate[i] = sum[0] + sum[1] + sum[2];
    }
}

static void forces(const Species *f, const Species *g, float *a, float *diffused)
{
    for (int i = 0; i < f->count; i++) {
        float x = f->x[i], y = f->y[i], z = f->z[i], more;
        double sum[4] = {0};
        FOR_CELLS_AROUND(x, y, z)
            for (int kind = 0; kind < 2; kind++) {
                const Species *s = kind ? g : f;
                for (int j = s->first[number(cx, cy, cz)]; j >= 0; j = s->next[j]) {
                    Separation d = between(x, y, z, s, j);
                    if (d.square >= 4) continue;
                    float p = push(f, i, s, j, d, &more);
                    for (int k = 0; k < 3; k++) sum[k] += p * d.e[k];
                    if (!kind) sum[3] += more;
                }
            }
        for (int k = 0; k < 3; k++) a[3 * i + k] = sum[k];
        diffused[i] = sum[3];
    }
}

/* The cells after a cell of the 26 around it, so that each pair is met once. */
static const int AFTER[13][3] = {{1, 0, 0}, {-1, 1, 0}, {0, 1, 0}, {1, 1, 0}, {-1, -1, 1}, {0, -1, 1}, {1, -1, 1},
                                 {-1, 0, 1}, {0, 0, 1}, {1, 0, 1}, {-1, 1, 1}, {0, 1, 1}, {1, 1, 1}};

static int start(const Species *f, int i, int k)
{
    if (k < 0) return f->next[i];
    return f->first[number(along(f->x[i]) + AFTER[k][0], along(f->y[i]) + AFTER[k][1], along(f->z[i]) + AFTER[k][2])];
}

static void density_once(const Species *f, const Species *g, double *rate)
{
    memset(rate, 0, sizeof(double) * 3 * f->count);
    for (int i = 0; i < f->count; i++) {
        float x = f->x[i], y = f->y[i], z = f->z[i], axes[3];
        double sum[3] = {0};
        for (int k = -1; k < 13; k++)
            for (int j = start(f, i, k); j >= 0; j = f->next[j]) {
                Separation d = between(x, y, z, f, j);
                if (d.square >= 4) continue;
                divergence(f, i, f, j, d, axes);
                for (int m = 0; m < 3; m++) {
                    sum[m] += axes[m];
                    rate[3 * j + m] += axes[m];
                }
            }
        FOR_CELLS_AROUND(x, y, z)
            for (int j = g->first[number(cx, cy, cz)]; j >= 0; j = g->next[j]) {
                Separation d = between(x, y, z, g, j);
                if (d.square >= 4) continue;
                divergence(f, i, g, j, d, axes);
                for (int m = 0; m < 3; m++) sum[m] += axes[m];
            }
        for (int m = 0; m < 3; m++) rate[3 * i + m] += sum[m];
    }
}

static void forces_once(const Species *f, const Species *g, double *a, double *diffused)
{
    memset(a, 0, sizeof(double) * 3 * f->count);
    memset(diffused, 0, sizeof(double) * f->count);
    for (int i = 0; i < f->count; i++) {
        float x = f->x[i], y = f->y[i], z = f->z[i], more;
        double sum[4] = {0};
        for (int k = -1; k < 13; k++)
            for (int j = start(f, i, k); j >= 0; j = f->next[j]) {
                Separation d = between(x, y, z, f, j);
                if (d.square >= 4) continue;
                float p = push(f, i, f, j, d, &more);
                for (int m = 0; m < 3; m++) {
                    sum[m] += p * d.e[m];
                    a[3 * j + m] -= p * d.e[m];
                }
                sum[3] += more;
                diffused[j] -= more;
            }
        FOR_CELLS_AROUND(x, y, z)
            for (int j = g->first[number(cx, cy, cz)]; j >= 0; j = g->next[j]) {
                Separation d = between(x, y, z, g, j);
                if (d.square >= 4) continue;
                float p = push(f, i, g, j, d, &more);
                for (int m = 0; m < 3; m++) sum[m] += p * d.e[m];
            }
        for (int m = 0; m < 3; m++) a[3 * i + m] += sum[m];
        diffused[i] += sum[3];
    }
}

/* Ghosts take the mean velocity and pressure of the fluid around them. */
static void follow(const Species *f, Species *g)
{
    for (int i = 0; i < g->count; i++) {
        float x = g->x[i], y = g->y[i], z = g->z[i];
        double weight = 0, sum[4] = {0};
        FOR_CELLS_AROUND(x, y, z)
            for (int j = f->first[number(cx, cy, cz)]; j >= 0; j = f->next[j]) {
                Separation d = between(x, y, z, f, j);
                if (d.square >= 4) continue;
                float share = kernel(sqrtf(d.square)), values[] = {f->u[j], f->v[j], f->w[j], f->pressure[j]};
                weight += share;
                for (int k = 0; k < 4; k++) sum[k] += share * values[k];
            }
        if (weight == 0) continue;
        g->u[i] = sum[0] / weight, g->v[i] = sum[1] / weight, g->w[i] = sum[2] / weight;
        g->pressure[i] = sum[3] / weight;
    }
}

int main(int count, char **text)
{
    if (count != 8) return fprintf(stderr, "NX NY NZ TANK_X TANK_Y RATIO STEPS\n"), 2;
    int n[3] = {atoi(text[1]), atoi(text[2]), atoi(text[3])}, tank[3] = {atoi(text[4]), atoi(text[5]), n[2]};
    int steps = atoi(text[7]), places = 0;
    ratio = atof(text[6]), width = 2 * ratio, inverse_length = 1 / ratio;
    /* a layer of ghosts and an empty cell on each side */
    origin = -(1 + 1.05f * width);
    for (int k = 0; k < 3; k++) cells[k] = (int)((tank[k] - 2 * origin) / width) + 1;

    Species f = make(n[0] * n[1] * n[2]), g = make((tank[0] + 2) * (tank[1] + 2) * (tank[2] + 1));
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++, places++) {
                f.x[places] = i + 0.5f, f.y[places] = j + 0.5f, f.z[places] = k + 0.5f;
                f.u[places] = uniform(), f.v[places] = uniform(), f.w[places] = uniform();
                f.pressure[places] = uniform();
            }
    places = 0;
    for (int k = -1; k < tank[2]; k++)
        for (int j = -1; j <= tank[1]; j++)
            for (int i = -1; i <= tank[0]; i++)
                if (i < 0 || j < 0 || k < 0 || i == tank[0] || j == tank[1]) {
                    g.x[places] = i + 0.5f, g.y[places] = j + 0.5f, g.z[places++] = k + 0.5f;
                }
    g.count = places;
    build(&g);

    float *rate = malloc(sizeof(float) * f.count), *a = malloc(sizeof(float) * 3 * f.count);
    float *diffused = malloc(sizeof(float) * f.count);
    double *sums = malloc(sizeof(double) * 4 * f.count), *rates = malloc(sizeof(double) * 3 * f.count), least[6], neighbours = 0;
    for (int k = 0; k < 6; k++) least[k] = INFINITY;
    for (int step = 0; step < steps; step++)
        for (int k = 0; k < 6; k++) {
            double begin = cpu_ms();
            met = 0;
            if (k == 0) build(&f);
            if (k == 1) density(&f, &g, rate), neighbours = met / (double)f.count - 1;
            if (k == 2) follow(&f, &g);
            if (k == 3) forces(&f, &g, a, diffused);
            if (k == 4) density_once(&f, &g, rates);
            if (k == 5) forces_once(&f, &g, sums + f.count, sums);
            least[k] = fmin(least[k], cpu_ms() - begin);
        }

    /* both ways must give the same, and what nothing reads would not be computed */
    double apart = 0, most = 0;
    for (int k = 0; k < 3 * f.count; k++) {
        apart = fmax(apart, fabs(a[k] - sums[f.count + k]));
        most = fmax(most, fabs(a[k]));
    }
    if (!(apart <= 1e-4 * most) || !isfinite(rate[0] + rates[0] + diffused[0]))
        return fprintf(stderr, "each pair once differs by %g of %g\n", apart, most), 1;
    printf("%d,%d,%.2f", f.count, g.count, neighbours);
    for (int k = 0; k < 6; k++) printf(",%.4f", least[k]);
    printf("\n");
    return 0;
}
