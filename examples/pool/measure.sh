# The laboratory: finds an alloy by its name and prints its hardness. Yours would move robots.
awk -F, -v name="$1" '$1 == name {
    ratio = $3 / $4
    print 100 + 90 * exp(-(ratio - 4) ^ 2 / 30) + 25 * exp(-(($5 - 450) / 60) ^ 2) - 0.3 * ($2 - 85) ^ 2 / 10
}' alloys.csv
