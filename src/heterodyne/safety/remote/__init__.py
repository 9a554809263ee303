"""Guards that are not our own code: what they are asked, and what their answers mean."""
