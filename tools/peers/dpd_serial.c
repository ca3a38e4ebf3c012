/* The paper's serial program of dissipative particle dynamics in plain C, by which ours is measured.

   Linked list (section 4.1, table 1), half of the stencil, and one running sequence of linear congruential numbers
   (equations 6 and 7), of which every pair takes two, in the order in which pairs are met (section 4.3). A periodic
   box at the paper's density with the fluid of table 3 and Groot and Warren's integrator; single precision, particles
   stored in the order of their cells at the start.

       cc -O3 -march=native -o dpd_serial tools/peers/dpd_serial.c -lm
       ./dpd_serial LX LY LZ STEPS

   prints particles, steps, updates of a particle a second (CPU time, the second half of the steps) and kT (its mean
   over the second half). */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPULSION 18.75f
#define SIGMA 3.0f
#define FRICTION (SIGMA * SIGMA / 2.0f)
#define DT 0.02f
#define PREDICTOR 0.65f
#define A_CELL 4

static uint32_t word = 1u;

static inline uint32_t next(void) { return word = word * 69069u + 1234567u; }

static inline float deviate(void) {
    const float scale = 1.0f / 4294967296.0f;
    float first = ((float)next() + 0.5f) * scale, second = ((float)next() + 0.5f) * scale;
    return sqrtf(-2.0f * logf(first)) * cosf(6.28318531f * second);
}

static float uniform(void) { return (float)rand() / ((float)RAND_MAX + 1.0f); }

static inline float inside(float x, float side) {
    if (x < 0) x += side;
    if (x >= side) x -= side;
    /* a tiny negative number plus the side rounds to the side */
    return x < side ? x : 0;
}

static float *vectors(int count) { return calloc(3 * (size_t)count, sizeof(float)); }

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: %s LX LY LZ STEPS\n", argv[0]);
        return 2;
    }
    const int n[3] = {atoi(argv[1]), atoi(argv[2]), atoi(argv[3])}, steps = atoi(argv[4]);
    if (n[0] < 3 || n[1] < 3 || n[2] < 3 || steps < 2) {
        fprintf(stderr, "three cells a side and two steps at least\n");
        return 2;
    }
    const float side[3] = {(float)n[0], (float)n[1], (float)n[2]};
    const int cells = n[0] * n[1] * n[2], count = A_CELL * cells;
    float *r = vectors(count), *v = vectors(count), *u = vectors(count), *f = vectors(count);
    int *last = malloc(sizeof(int) * cells), *before = malloc(sizeof(int) * count);

    for (int i = 0; i < count; i++) {
        const int c = i / A_CELL, at[3] = {c % n[0], c / n[0] % n[1], c / n[0] / n[1]};
        for (int k = 0; k < 3; k++) {
            r[3 * i + k] = at[k] + 0.999f * uniform();
            /* a sum of uniform numbers with the variance one: kT = 1 */
            v[3 * i + k] = 1.7320508f * (uniform() + uniform() + uniform() + uniform() - 2.0f);
        }
    }

    double squares = 0;
    int samples = 0;
    clock_t start = 0;
    for (int step = 0; step < steps; step++) {
        if (step == steps / 2) start = clock();
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 3; k++) {
                const int m = 3 * i + k;
                r[m] = inside(r[m] + DT * (v[m] + 0.5f * DT * f[m]), side[k]);
                u[m] = v[m] + PREDICTOR * DT * f[m];
                v[m] += 0.5f * DT * f[m];
            }
        memset(last, 0xff, sizeof(int) * cells);
        memset(f, 0, sizeof(float) * 3 * count);
        for (int i = 0; i < count; i++) {
            const int c = ((int)r[3 * i + 2] * n[1] + (int)r[3 * i + 1]) * n[0] + (int)r[3 * i];
            before[i] = last[c];
            last[c] = i;
        }
        for (int i = 0; i < count; i++) {
            const float x = r[3 * i], y = r[3 * i + 1], z = r[3 * i + 2];
            const float ux = u[3 * i], uy = u[3 * i + 1], uz = u[3 * i + 2];
            const int cx = (int)x, cy = (int)y, cz = (int)z;
            float fx = 0, fy = 0, fz = 0;
            for (int k = 13; k < 27; k++) {
                float ox = 0, oy = 0, oz = 0;
                int a = cx + k % 3 - 1, b = cy + k / 3 % 3 - 1, c = cz + k / 9 - 1, j = before[i];
                if (k > 13) {
                    if (a < 0) a += n[0], ox = side[0];
                    else if (a == n[0]) a = 0, ox = -side[0];
                    if (b < 0) b += n[1], oy = side[1];
                    else if (b == n[1]) b = 0, oy = -side[1];
                    if (c == n[2]) c = 0, oz = -side[2];
                    j = last[(c * n[1] + b) * n[0] + a];
                }
                for (; j >= 0; j = before[j]) {
                    const float dx = x - r[3 * j] + ox, dy = y - r[3 * j + 1] + oy, dz = z - r[3 * j + 2] + oz;
                    const float square = dx * dx + dy * dy + dz * dz;
                    if (square < 1.0f && square > 1e-18f) {
                        const float distance = sqrtf(square), inverse = 1.0f / distance, w = 1.0f - distance;
                        const float approach =
                            (dx * (ux - u[3 * j]) + dy * (uy - u[3 * j + 1]) + dz * (uz - u[3 * j + 2])) * inverse;
                        const float along = w * (REPULSION - FRICTION * w * approach + SIGMA / sqrtf(DT) * deviate());
                        const float gx = along * inverse * dx, gy = along * inverse * dy, gz = along * inverse * dz;
                        fx += gx, fy += gy, fz += gz;
                        f[3 * j] -= gx, f[3 * j + 1] -= gy, f[3 * j + 2] -= gz;
                    }
                }
            }
            f[3 * i] += fx, f[3 * i + 1] += fy, f[3 * i + 2] += fz;
        }
        for (int m = 0; m < 3 * count; m++) v[m] += 0.5f * DT * f[m];
        if (step >= steps / 2 && step % 10 == 0) {
            double sum = 0;
            for (int m = 0; m < 3 * count; m++) sum += (double)v[m] * v[m];
            squares += sum / (3.0 * count - 3.0), samples++;
        }
    }
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("particles %d steps %d updates/s %.4g kT %.4f\n", count, steps, (double)count * (steps - steps / 2) / seconds,
           samples ? squares / samples : NAN);
    return 0;
}
