"""The six stages of a step, one file each. Each is pure per unit: one item, one minibatch, one merge
group; what runs at once is the loop's affair. A stage knows no Hydra, no MLflow and no file system.
"""
