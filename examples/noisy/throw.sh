# Throws a stone five times and prints the mean distance with the variance of that mean, as JSON.
awk -v angle="$1" -v tension="$2" -v seed="$NOREGRET_TRIAL" 'BEGIN {
    srand(seed + 1)
    for (i = 0; i < 5; i++) {
        gust = sqrt(-2 * log(1 - rand())) * cos(6.283185 * rand())      # a normal number
        speed = 3 * sqrt(tension) * (tension > 7 ? 1 - (tension - 7) / 6 : 1)
        far[i] = speed ^ 2 * sin(2 * angle * 3.141593 / 180) / 9.81 + 0.4 * gust
        mean += far[i] / 5
    }
    for (i = 0; i < 5; i++) variance += (far[i] - mean) ^ 2 / 4
    printf "{\"value\": %.4f, \"noise_var\": %.5f}\n", mean, variance / 5
}'
